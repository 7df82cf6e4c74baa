"""Compare the digests of the images that docker/ names with what their registries say: what `make image-digests` runs.

    python docker/digests.py [--write] [FILE …]

A tag moves, a digest does not: `postgres:15-bookworm@sha256:…` is the same bytes for everybody. Without `--write`
nothing changes, and the status is 1 if a digest is missing or another one than the tag has now. The status is 2 if a
registry cannot be asked. The protocol is that of the OCI distribution specification 1.1, "Checking if content exists in
the registry", with the bearer tokens of the registries that want one.
"""

from __future__ import annotations

import json
import re
import sys
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

IMAGE = re.compile(
    r"(?P<lead>^\s*(?:ARG\s+\w+=|FROM\s+|image:\s+(?:&\w+\s+)?))"
    r"(?P<name>(?:[\w.-]+(?::\d+)?/)*[a-z0-9._-]+):(?P<tag>[\w.-]+)(?:@(?P<digest>sha256:[0-9a-f]{64}))?[ \t]*$",
    re.MULTILINE,
)
"""An image with its tag, where a Dockerfile or a compose file names one; stages and variables have no tag."""

_KINDS = (
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
)
_SECONDS = 30


def manifest_url(name: str, tag: str) -> str:
    """Return where a registry tells of an image; names without a registry are Docker Hub's."""
    first, _, rest = name.partition("/")
    if "." in first or ":" in first or first == "localhost":
        scheme = "http" if first.partition(":")[0] in ("localhost", "127.0.0.1") else "https"
        return f"{scheme}://{first}/v2/{rest}/manifests/{tag}"
    path = name if "/" in name else f"library/{name}"
    return f"https://registry-1.docker.io/v2/{path}/manifests/{tag}"


def digest_of(name: str, tag: str) -> str:
    """Return the digest that a tag has now.

    Raises:
        OSError: if the registry cannot be asked, or does not know the image.
        ValueError: if its answer names no digest.
    """
    url = manifest_url(name, tag)
    headers = {"Accept": ", ".join(_KINDS)}
    try:
        answer = _head(url, headers)
    except urllib.error.HTTPError as error:
        if error.code != 401:
            raise
        answer = _head(url, {**headers, "Authorization": f"Bearer {_token(error.headers.get('WWW-Authenticate', ''))}"})
    if not re.fullmatch(r"sha256:[0-9a-f]{64}", answer):
        raise ValueError(f"{name}:{tag}: the registry names no digest")
    return answer


def _head(url: str, headers: dict[str, str]) -> str:
    request = urllib.request.Request(url, headers=headers, method="HEAD")
    with urllib.request.urlopen(request, timeout=_SECONDS) as answer:
        return str(answer.headers.get("Docker-Content-Digest", ""))


def _token(challenge: str) -> str:
    asked = dict(re.findall(r'(\w+)="([^"]*)"', challenge))
    url = f"{asked.pop('realm', '')}?{urllib.parse.urlencode(asked)}"
    if not url.startswith("https://"):
        raise ValueError(f"the registry asks for a kind of login that is not known here: {challenge!r}")
    with urllib.request.urlopen(url, timeout=_SECONDS) as answer:
        found = json.load(answer)
    return str(found.get("token") or found.get("access_token"))


def compare(path: Path, *, write: bool) -> int:
    """Print what is missing or has moved in a file, mend it if asked, and return how many that were."""
    text = path.read_text("utf-8")
    other = 0
    for match in reversed(list(IMAGE.finditer(text))):
        name, tag, digest = match["name"], match["tag"], match["digest"]
        if name.startswith("pmo-assets"):  # built here
            continue
        now = digest_of(name, tag)
        if now != digest:
            other += 1
            print(f"{path.name}: {name}:{tag} {digest or 'has no digest'} → {now}")
            text = f"{text[: match.start()]}{match['lead']}{name}:{tag}@{now}{text[match.end() :]}"
    if write and other:
        path.write_text(text, "utf-8")
    return other


def main(arguments: list[str]) -> int:
    """Compare the files and return the status."""
    folder = Path(__file__).parent
    files = [Path(name) for name in arguments if name != "--write"]
    write = "--write" in arguments
    try:
        found = sum(
            compare(path, write=write)
            for path in files or [*sorted(folder.glob("Dockerfile*")), *sorted(folder.glob("compose*.yaml"))]
        )
    except (OSError, ValueError) as error:
        print(f"a registry cannot be asked: {error}", file=sys.stderr)
        return 2
    print(f"{found} digests {'renewed' if write else 'are missing or have moved'}")
    return 1 if found and not write else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
