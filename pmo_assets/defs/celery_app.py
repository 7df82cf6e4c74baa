"""The Celery app whose workers run the steps, and whole runs, that Dagster hands out (`PMO_CELERY_BROKER`).

    celery --app pmo_assets.defs.celery_app worker --pool solo --queues dagster,gpu,llm

One worker works on one task at a time; start as many as a machine has room for. `--pool solo`, because an asset has
worker processes of its own, which a process of Celery's pool may not have. Celery finds its app as an attribute of a
module, so this one, unlike all others, does its work when it is imported.
"""

from __future__ import annotations

from dagster_celery.make_app import make_app
from dagster_celery.tasks import create_execute_job_task, create_resume_job_task, create_task

from pmo_assets.defs.executors import celery_config
from pmo_assets.settings import Settings

app = make_app(celery_config(Settings()))

execute_plan = create_task(app)
execute_job = create_execute_job_task(app)
resume_job = create_resume_job_task(app)
