"""What was typed for `install`: SPECs, together with the flags that say the same as parts of a SPEC."""

from collections.abc import Collection, Mapping

from skillpm.core.git_syntax import has_credentials, is_commit
from skillpm.core.names import is_skill_name
from skillpm.core.text import sanitize
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.core.versions import RANGE_HINT, is_range
from skillpm.errors import UsageError
from skillpm.requirements.repository_url import with_ref
from skillpm.requirements.source import GitSource, IndexSource, PathSource, RefKind, Source
from skillpm.requirements.specifier import Specifier, parse_specifier


class InstallRequest(Value):
    """What was typed: SPECs, and the flags that say the same as parts of a SPEC.

    `chosen` are the names of the skills that a person chose of a SPEC that holds several.
    """

    specs: tuple[str, ...]
    alias: str = ""
    all_skills: bool = False
    bundled: bool = False
    link: bool = False
    path: str = ""
    ref_kind: RefKind = ""
    ref: str = ""
    selection: Mapping[str, Collection[str]] = EMPTY_MAPPING
    index: str = ""


def format_skill_spec(spec: str, source: Source, name: str) -> str:
    """Give what to type for one skill of several that a SPEC holds; `source` is that of any of them.

    Behind a page of a forge, or where a flag names the ref, `@skill` alone would mean something else.
    """
    if isinstance(source, IndexSource):
        return f"{source.index_url}@{name}"
    url, ref = (source.url, source.ref) if isinstance(source, GitSource) else ("", "")
    short = f"{spec}@{name}"
    try:
        found = parse_specifier(short)
    except UsageError:
        found = None
    if (
        found is not None
        and isinstance(found.source, GitSource)
        and (found.source.url, found.source.ref, found.source.skill) == (url, ref, name)
        and not (found.page_path or has_credentials(spec))
    ):
        return short
    return f"{url}#{ref}@{name}" if ref else f"{url}@{name}"


def parse_with_flags(spec: str, request: InstallRequest) -> Specifier:
    """Understand one SPEC together with the flags."""
    specifier = parse_specifier(spec)
    source = specifier.source
    if request.index:
        if not isinstance(source, IndexSource):
            raise UsageError(f"--index does not go with `{sanitize(spec)}`")
        if not is_skill_name(request.index):
            raise UsageError(
                f"`{sanitize(request.index, 80)}` is no name of an index",
                hint="name one of `skillpm config get indexes`; a site by its address is a SPEC: https://site/@skill",
            )
        specifier = specifier.replace(source=source.replace(index=request.index))
    if not (request.ref_kind or request.path or request.link):
        return specifier
    if isinstance(source, PathSource) and request.link and not (request.ref_kind or request.path):
        return specifier.replace(source=source.replace(link=True))
    if not isinstance(source, GitSource) or request.link:
        flag = "--link" if request.link else "--path" if request.path else f"--{request.ref_kind}"
        raise UsageError(f"{flag} does not go with `{sanitize(spec)}`")
    if request.ref_kind and (source.ref or specifier.page_path):
        raise UsageError(f"`{sanitize(spec)}` names a ref already, so --{request.ref_kind} would name another")
    if request.ref_kind:
        source = _apply_ref(source, request, spec)
    if request.path:
        source = source.replace(path=request.path.strip("/").removeprefix("./") or ".")
    return specifier.replace(source=source)


def _apply_ref(source: GitSource, request: InstallRequest, spec: str) -> GitSource:
    """Give a source at the ref that a flag names, checked by its kind."""
    if request.ref_kind == "rev" and not is_commit(request.ref):
        raise UsageError(
            f"`{sanitize(request.ref)}` is no whole commit id",
            hint="give all of its 40 digits, or use --tag or --branch",
        )
    if request.ref_kind != "version":
        return with_ref(source, request.ref, spec).replace(kind=request.ref_kind)
    if not is_range(request.ref):
        raise UsageError(f"`{sanitize(request.ref)}` is no version range", hint=RANGE_HINT)
    return source.replace(kind="version", ref=request.ref.strip())
