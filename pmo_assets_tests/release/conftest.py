"""Fixtures of the release's tests."""

from __future__ import annotations

from pmo_assets_tests.storage.conftest import s3_endpoint

__all__ = ["s3_endpoint"]
