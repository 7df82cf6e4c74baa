"""Checks of services on a network: models, PMC. Each asks once, with a short time limit."""

from __future__ import annotations

from typing import Final, Literal

import httpx2

from pmo_assets.configuration.findings import Finding
from pmo_assets.settings import Settings
from pmo_assets.sources.host_names import name_problem

PATIENCE: Final = 5.0
"""Seconds for an answer."""


def model_findings(settings: Settings, kind: Literal["llm", "vlm"]) -> list[Finding]:
    """Ask the endpoint of the language (`llm`) or vision model (`vlm`) whether it has the model that is set."""
    name = {"llm": "language model", "vlm": "vision model"}[kind]
    model = getattr(settings, f"{kind}_model")
    if model is None:
        return [Finding(name, "ok", f"none is set (PMO_{kind.upper()}_MODEL): rules decide alone")]
    if getattr(settings, f"{kind}_offline"):
        return [Finding(name, "ok", f"{model}, in process by vLLM: loaded when it is first asked")]
    own = getattr(settings, f"{kind}_base_url")
    base = own or settings.llm_base_url or "http://127.0.0.1:8000/v1"
    key = getattr(settings, f"{kind}_api_key") or (settings.llm_api_key if own is None else None)
    headers = {"Authorization": f"Bearer {key.get_secret_value()}"} if key else {}
    variable = f"PMO_{kind.upper() if own else 'LLM'}_BASE_URL"
    try:
        answer = httpx2.get(f"{base.rstrip('/')}/models", headers=headers, timeout=PATIENCE, trust_env=False)
    except httpx2.HTTPError as error:
        text = f"{base} does not answer ({type(error).__name__})"
        return [Finding(name, "fail", text, f"start the server, or set {variable}")]
    if answer.status_code in (401, 403):
        text = f"{base} refuses the key (HTTP {answer.status_code})"
        return [Finding(name, "fail", text, f"set PMO_{kind.upper()}_API_KEY")]
    try:
        offered = [str(item["id"]) for item in answer.raise_for_status().json()["data"]]
    except (httpx2.HTTPError, ValueError, KeyError, TypeError):
        text = f"{base}/models is no list of models (HTTP {answer.status_code})"
        return [Finding(name, "warn", text, f"see that {variable} ends in /v1")]
    if model not in offered:
        text = f"{base} has {', '.join(offered[:5]) or 'no model'}, not {model}"
        return [Finding(name, "fail", text, f"set PMO_{kind.upper()}_MODEL to one of these")]
    return [Finding(name, "ok", f"{model} at {base}")]


def pmc_findings(settings: Settings) -> list[Finding]:
    """Say whether PMC's bucket and the E-utilities can be reached; without them only own articles can be processed."""
    endpoint = settings.pmc_endpoint or "https://s3.amazonaws.com"
    bucket = f"{endpoint.rstrip('/')}/{settings.pmc_bucket}?list-type=2&max-keys=1"
    return [
        _reached("PMC's bucket", bucket, endpoint, "PMO_PMC_ENDPOINT"),
        _reached("E-utilities", f"{settings.entrez_url.rstrip('/')}/einfo.fcgi", settings.entrez_url, "PMO_ENTREZ_URL"),
    ]


def _reached(name: str, url: str, shown: str, variable: str) -> Finding:
    mend = f"only needed for articles from PMC: see network and proxy, or set {variable} to a mirror"
    if problem := name_problem(url):
        return Finding(name, "warn", problem, mend)
    try:
        status = httpx2.get(url, timeout=PATIENCE, follow_redirects=True).status_code
    except httpx2.HTTPError as error:
        return Finding(name, "warn", f"{shown} does not answer ({type(error).__name__})", mend)
    if status >= 400:
        return Finding(name, "warn", f"{shown} answers with HTTP {status}", mend)
    return Finding(name, "ok", f"{shown} answers")
