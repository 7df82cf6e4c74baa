"""Batches on Ray, Celery and Kubernetes: `make test-engines`, in an environment of its own."""
