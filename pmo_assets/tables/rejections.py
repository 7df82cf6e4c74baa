"""The table of what could not be processed."""

from __future__ import annotations

import dataframely as dy


class Rejections(dy.Schema):
    """What could not be processed, and why."""

    stage = dy.String(description="Asset that gave up")
    article_id = dy.Int64(min=1, description='PMC number without "PMC"')
    package = dy.String(nullable=True, description="Name of the article's package; null where none is known")
    image_cluster_id = dy.String(nullable=True, description="Figure; null when the whole article is affected")
    error_class = dy.String(description="Exception class, or the name of a decision")
    message = dy.String(description="What is wrong, in a sentence")
    traceback_tail = dy.String(description="Last lines of the traceback; empty for a decision")


SCHEMAS: dict[str, type[dy.Schema]] = {"rejections": Rejections}
"""The schema of each asset of the group that is a table."""
