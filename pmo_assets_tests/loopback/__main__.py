"""`python -m pmo_assets_tests.loopback FOLDER`: serves article packages as PMC would, until it is stopped."""

from __future__ import annotations

import argparse
import datetime
import sys
import tempfile
import threading
from pathlib import Path

from pmo_assets.samples import write_sample_articles
from pmo_assets_tests.loopback.layout import CloudArticle, articles_from_folder
from pmo_assets_tests.loopback.server import LoopbackPmc
from pmo_assets_tests.loopback.traffic import Faults


def _articles(folder: Path | None) -> list[CloudArticle]:
    if folder is not None:
        return list(articles_from_folder(folder))
    with tempfile.TemporaryDirectory() as home:
        write_sample_articles(Path(home))
        return list(articles_from_folder(Path(home) / "articles"))


def main(arguments: list[str] | None = None) -> int:
    """Serve until interrupted; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m pmo_assets_tests.loopback", description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", help="of article packages; the samples if not given")
    parser.add_argument("--port", type=int, default=0, help="any that is free if not given")
    parser.add_argument("--faults", type=float, default=0.0, metavar="SHARE", help="of requests that fail, 0 to 1")
    given = parser.parse_args(arguments)
    try:
        articles = _articles(given.folder)
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    with LoopbackPmc(articles, port=given.port) as pmc:
        pmc.write_inventory(datetime.datetime.now(datetime.UTC))
        pmc.faults = Faults(share=given.faults)
        print(f"# {len(articles)} articles; stop with Ctrl-C. In another terminal:")
        for name, value in pmc.environment.items():
            print(f"export {name}={value}", flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
