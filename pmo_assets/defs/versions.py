"""Code versions: a hash of the code that makes an asset, so that changed code shows as stale in the UI.

What makes an asset is a function; what it depends on is read from the source: every function, class and constant of
the package that it names, those that these name, and so on through the imports. Of each the syntax counts, without
comments and docstrings; of a module that lists data files in `PACKAGE_DATA`, their content.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.util
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import dagster as dg

from pmo_assets.configuration.remembered import check_settings
from pmo_assets.defs.package_cache import of_this_code
from pmo_assets.pipeline.prompting.prompts import prompts_digest
from pmo_assets.records.stores import SystemicError
from pmo_assets.settings import Settings
from pmo_assets.settings.shaping import noted_settings, settings_digest
from pmo_assets.storage.data_root import DataRoot

PACKAGE = "pmo_assets"

CODE_VERSION_TAG = "dagster/code_version"
"""Tag of a materialisation under which Dagster notes the version that made it."""

DATA_VERSION_TAG = "dagster/data_version"
"""Tag under which Dagster notes the data version of a materialisation.

Of all tags this alone can be asked for all partitions at once, so that the code version stands in it, too, and what was
applied of people's decisions.
"""

APPLIED_DIGEST = "annotations_digest"
"""Key of the metadata for the digest of people's decisions that an asset applied (`defs.annotated`); "" if none."""

_OF_RUN = "~"

SETTINGS_DIGEST_TAG = "pmo/settings"
"""Tag of a run: digest of the settings that change results, as they were at its first step …"""

SETTINGS_TAG = ".dagster/pmo_settings"
"""… and their values; Dagster shows no tag that begins so. Secrets change no result and are not among them."""

DATA_CONSTANT = "PACKAGE_DATA"
"""Name of the constant in which a module lists the files and folders of the package that it reads."""

Definition = tuple[str, str]
"""A module and the name of something that it defines; "" for all of it."""

_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class _Module:
    """Analysis of a module by the names that it defines.

    Attributes:
        digests: name -> hash of the statements that define it.
        needed: name -> definitions of the package that these statements use.
        imports: name -> definitions of the package that it stands for: several where several imports give it (in
            branches, or in functions).
        others: hash of the statements that define nothing (calls, loops): they count for everything in the module.
        data: files and folders of the package that it reads.
    """

    digests: Mapping[str, str]
    needed: Mapping[str, Sequence[Definition]]
    imports: Mapping[str, Sequence[Definition]]
    others: str
    data: Sequence[str]


@functools.cache
def _source(module: str) -> Path | None:
    """Return the file of a module of the package; None if there is no such module."""
    try:
        spec = importlib.util.find_spec(module)
    except ModuleNotFoundError:
        return None
    return Path(spec.origin) if spec is not None and spec.origin is not None else None


@functools.cache
def _module(name: str) -> _Module:
    """Return the analysis of a module."""
    source = _source(name)
    if source is None:
        raise ModuleNotFoundError(f"{name} is named as what makes an asset but does not exist")
    return _analysed(name, source.read_bytes())


def _analysed(name: str, source: bytes) -> _Module:
    tree = _without_words(ast.parse(source))
    imports = _imports(tree)
    statements: dict[str, list[ast.stmt]] = {}
    others: list[ast.stmt] = []
    for statement in tree.body:
        names = list(_defined_names(statement))
        for defined in names:
            statements.setdefault(defined, []).append(statement)
        if not names and not isinstance(statement, ast.Import | ast.ImportFrom | ast.Pass):
            others.append(statement)
    loose = {name for statement in others for name in _names(statement)}
    digests, needed = {}, {}
    for defined, own in statements.items():
        named = loose.union(*map(_names, own))
        within = {(name, other) for other in named & statements.keys()}
        digests[defined] = _hash(f"{name} {defined}", own)
        needed[defined] = sorted(within.union(*(imports[other] for other in named & imports.keys())))
    data = [
        place
        for statement in statements.get(DATA_CONSTANT, ())
        for place in ast.literal_eval(statement.value)  # type: ignore[attr-defined]
    ]
    return _Module(digests, needed, imports, _hash(name, others), data)


def _names(statement: ast.stmt) -> set[str]:
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}


def _hash(title: str, statements: Sequence[ast.stmt]) -> str:
    digest = hashlib.sha256(title.encode())
    for statement in statements:
        digest.update(ast.unparse(statement).encode())
    return digest.hexdigest()


def _without_words(tree: ast.Module) -> ast.Module:
    """Remove docstrings, also those of constants, from syntax; comments are not part of it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | _Function):
            node.body = [item for item in node.body if not _is_text(item)] or [ast.Pass()]
    return tree


def _is_text(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _defined_names(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.ClassDef | _Function):
        yield statement.name
    elif isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        for target in targets:
            yield from (node.id for node in ast.walk(target) if isinstance(node, ast.Name))


def _imports(tree: ast.Module) -> dict[str, list[Definition]]:
    """Return the definitions of the package that a module's names stand for, imports inside functions included."""
    found: dict[str, set[Definition]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] == PACKAGE:
                    found.setdefault(alias.asname or PACKAGE, set()).add((alias.name, ""))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == PACKAGE:
            for alias in node.names:
                submodule = f"{node.module}.{alias.name}"
                is_module = _source(submodule) is not None
                definition = (submodule, "") if is_module else (str(node.module), alias.name)
                found.setdefault(alias.asname or alias.name, set()).add(definition)
    return {name: sorted(definitions) for name, definitions in found.items()}


@functools.cache
def _needed(definition: Definition) -> frozenset[Definition]:
    """Return the definitions that a definition uses, of its own module and of others of the package."""
    module, name = definition
    known = _module(module)
    if not name:
        return frozenset((module, other) for other in known.digests).union(*known.imports.values())
    if name not in known.digests:
        return frozenset(known.imports.get(name, ()))
    return frozenset(known.needed[name])


def dependencies(*definitions: Definition) -> frozenset[Definition]:
    """Return definitions with everything of the package that they name, directly or not."""
    found: set[Definition] = set()
    waiting = list(definitions)
    while waiting:
        definition = waiting.pop()
        if definition not in found:
            found.add(definition)
            waiting.extend(_needed(definition))
    return frozenset(found)


@functools.cache
def _module_digest(name: str) -> bytes:
    """Return the digest of the parts that count for everything in a module: loose statements, and its data files."""
    module = _module(name)
    digest = hashlib.sha256(module.others.encode())
    for file in _data_files(module.data):
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.digest()


def _data_files(places: Sequence[str]) -> list[Path]:
    """Return the files of the package that a module reads.

    Raises:
        FileNotFoundError: if a place does not exist, so that a renamed file cannot silently drop out.
    """
    package = _source(PACKAGE)
    assert package is not None
    files: list[Path] = []
    for place in places:
        path = package.parent / place
        if not path.exists():
            raise FileNotFoundError(f"{path} is named in {DATA_CONSTANT} but does not exist")
        files += sorted(item for item in path.rglob("*") if item.is_file()) if path.is_dir() else [path]
    return [file for file in files if file.suffix != ".pyc"]


def code_version(*makers: Callable[..., object] | ModuleType | str, prompts: Sequence[str] = ()) -> str:
    """Return a short hash over all code that `makers` depend on.

    Args:
        makers: functions and classes of the package; whole modules; or names where one cannot be imported without an
            extra, of a module or "module:function".
        prompts: tasks of a language model (`prompts/`) that they may ask.

    Raises:
        ModuleNotFoundError: for a module or a function that does not exist.
    """
    definitions = sorted(set(map(_definition, makers)))
    if all(map(_is_of_package, {module for module, _ in definitions})):
        named = " ".join(":".join(definition) for definition in definitions)
        version = of_this_code(f"code version of {named}", lambda: _version(definitions))
    else:  # what is no part of the package says nothing of itself in what is kept by its files
        version = _version(definitions)
    return "-".join([version, *([prompts_digest(prompts)] if prompts else [])])


def _is_of_package(module: str) -> bool:
    """Say whether a module lies in the package's folder; other folders can be added to a package's path."""
    source, package = _source(module), _source(PACKAGE)
    return source is not None and package is not None and source.is_relative_to(package.parent)


def _version(definitions: Sequence[Definition]) -> str:
    for module, name in definitions:
        if name and name not in _module(module).digests:
            raise ModuleNotFoundError(f"{module}:{name} is named as what makes an asset but does not exist")
    found = dependencies(*definitions)
    digest = hashlib.sha256()
    for definition in sorted(found):
        digest.update(_module(definition[0]).digests.get(definition[1], "").encode())
    for module in sorted({module for module, _ in found}):
        digest.update(_module_digest(module))
    return digest.hexdigest()[:12]


def _definition(maker: Callable[..., object] | ModuleType | str) -> Definition:
    if isinstance(maker, str):
        module, _, name = maker.partition(":")
        return module, name
    if isinstance(maker, ModuleType):
        return maker.__name__, ""
    return maker.__module__, maker.__qualname__.partition(".")[0]


def in_force(spec: dg.AssetSpec, settings: Settings) -> dg.AssetSpec:
    """Return an asset's declaration with the options that change its result in its code version."""
    return spec.replace_attributes(code_version=version_in_force(spec.key.path[-1], spec.code_version, settings))


def version_in_force(asset: str, declared: str | None, settings: Settings) -> str | None:
    """Return an asset's code version with the options that change its result in it."""
    digest = settings_digest(settings, asset)
    return f"{declared}-{digest}" if digest else declared


def data_version(version: str | None, run_id: str, applied: str | None = None) -> str:
    """Return the data version of a run's result with a code version; each run gives another one.

    Args:
        version: of the code.
        run_id: of the run.
        applied: digest of people's decisions; None for an asset that applies none.
    """
    return _OF_RUN.join([version or "", run_id[:8], *([applied] if applied is not None else [])])


def code_version_in(version: str) -> str | None:
    """Return the code version that a data version holds; None for one of another origin."""
    code, mark, _ = version.partition(_OF_RUN)
    return code if mark else None


def applied_in(version: str) -> str | None:
    """Return the digest of people's decisions that a data version holds; None for one without."""
    parts = version.split(_OF_RUN, 2)
    return parts[2] if len(parts) > 2 else None


def same_settings(context: dg.AssetExecutionContext) -> None:
    """Note a run's settings at its first step, and refuse a later step that would work with others.

    Steps of one run may be processes on several machines (Ray, Celery, Kubernetes), each with its own environment.
    Neither may be other than those of the data root (`pmo_assets.configuration.remembered`).

    Raises:
        SystemicError: if settings differ; the message names them and says what to do.
    """
    if "settings" not in context.op_def.required_resource_keys:
        return
    settings: Settings = context.resources.settings
    check_settings(DataRoot(settings.data_root, settings.s3_endpoint), settings)
    now = noted_settings(context.resources.settings)
    run = context.instance.get_run_by_id(context.run_id)
    kept = run.tags.get(SETTINGS_TAG) if run is not None else None
    if kept is None:
        digest = hashlib.sha256(json.dumps(now, sort_keys=True).encode()).hexdigest()[:8]
        tags = {SETTINGS_TAG: json.dumps(now, sort_keys=True), SETTINGS_DIGEST_TAG: digest}
        context.instance.add_run_tags(context.run_id, tags)
        return
    before = json.loads(kept)
    if other := [name for name in sorted({*before, *now}) if before.get(name) != now.get(name)]:
        words = ", ".join(f"PMO_{name.upper()} is {now.get(name)}, was {before.get(name)}" for name in other)
        raise SystemicError(
            f"this step has other settings than the run began with: {words}. Give all machines the same settings, "
            "reload the code location and run the batch again"
        )


def version_noted(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function of a batch asset so that its result has a data version that holds its code version."""

    @functools.wraps(function)
    def noted(context: dg.AssetExecutionContext, *args: Any, **kwargs: Any) -> Any:
        same_settings(context)
        result = function(context, *args, **kwargs)
        version = context.assets_def.code_versions_by_key.get(context.asset_key)
        applied = (result.metadata or {}).get(APPLIED_DIGEST)
        parents = sorted(key.path[-1] for key in context.assets_def.asset_deps[context.asset_key])
        value = replace(result.value, code_version=version, parents=parents, applied=applied)
        return result._replace(value=value, data_version=dg.DataVersion(data_version(version, context.run_id, applied)))

    return noted
