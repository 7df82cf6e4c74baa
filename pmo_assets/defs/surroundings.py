"""The resources of a run as the surroundings of its steps (`pmo_assets.configuration.step_inputs`)."""

from __future__ import annotations

import dagster as dg

from pmo_assets.configuration.step_inputs import Surroundings
from pmo_assets.settings import Settings
from pmo_assets.storage.pixels import ParquetPixels


def settings_of(context: dg.AssetExecutionContext) -> Settings:
    """Return the options of the run."""
    settings: Settings = context.resources.settings
    return settings


def surroundings_of(context: dg.AssetExecutionContext) -> Surroundings:
    """Return settings, stores and models for the steps of a run; a model is opened only when a step asks for it."""
    resources = context.resources
    return Surroundings(
        settings_of(context),
        resources.objects,
        lambda store: ParquetPixels(resources.data_root, store, context.partition_key),
        lambda name: getattr(resources, name),
    )
