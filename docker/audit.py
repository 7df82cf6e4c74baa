"""Look the pinned versions up in a database of known vulnerabilities: what `make audit` runs.

    python docker/audit.py [constraints.txt]

Status 1 for findings, 2 when the database could not be asked about some package. pip-audit alone says "no known
vulnerabilities" of packages that it could not look up.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

SHOWN = 5


def main(constraints: str) -> int:
    """Print what is known and return the status."""
    command = [sys.executable, "-m", "pip_audit", "--requirement", constraints, "--no-deps", "--disable-pip"]
    done = subprocess.run(
        [*command, "--format", "json", "--progress-spinner", "off"], capture_output=True, text=True, check=False
    )
    try:
        packages: list[dict[str, Any]] = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        print(f"the database cannot be reached, nothing was audited: {done.stderr.strip()[-300:]}", file=sys.stderr)
        return 2
    found = [(item, flaw) for item in packages for flaw in item.get("vulns", [])]
    for item, flaw in found:
        mended = ", ".join(flaw["fix_versions"]) or "no version"
        print(f"{item['name']} {item['version']}: {flaw['id']}, mended in {mended}")
    unknown = [item["name"] for item in packages if "skip_reason" in item]
    if unknown:
        some = ", ".join(unknown[:SHOWN]) + (", …" if len(unknown) > SHOWN else "")
        print(f"{len(unknown)} of {len(packages)} packages could not be looked up: {some}", file=sys.stderr)
    print(f"{len(packages) - len(unknown)} packages audited, {len(found)} findings")
    return 1 if found else 2 if unknown else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "constraints.txt"))
