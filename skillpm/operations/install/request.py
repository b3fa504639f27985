"""What was typed for `install`: SPECs, together with the flags that say the same as parts of a SPEC."""

from collections.abc import Collection, Mapping

from skillpm.core.git_syntax import has_credentials, is_commit
from skillpm.core.names import is_skill_name
from skillpm.core.text import show
from skillpm.core.values import NOTHING, Value
from skillpm.core.versions import RANGE_HINT, is_range
from skillpm.errors import UsageError
from skillpm.requirements.repository_url import with_ref
from skillpm.requirements.source import GitSource, IndexSource, PathSource, RefKind, Source
from skillpm.requirements.specifier import Specifier, parse_specifier


class Request(Value):
    """What was typed: SPECs, and the flags that say the same as parts of a SPEC.

    `chosen` are the names of the skills that a person chose of a SPEC that holds several.
    """

    specs: tuple[str, ...]
    alias: str = ""
    every: bool = False
    bundled: bool = False
    link: bool = False
    path: str = ""
    ref_kind: RefKind = ""
    ref: str = ""
    chosen: Mapping[str, Collection[str]] = NOTHING
    index: str = ""


def spec_of_one(spec: str, source: Source, name: str) -> str:
    """Give what to type for one skill of several that a SPEC holds; `source` is that of any of them.

    Behind a page of a forge, or where a flag names the ref, `@skill` alone would mean something else.
    """
    if isinstance(source, IndexSource):
        return f"{source.site}@{name}"
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
        and not (found.browser or has_credentials(spec))
    ):
        return short
    return f"{url}#{ref}@{name}" if ref else f"{url}@{name}"


def specifier_of(spec: str, request: Request) -> Specifier:
    """Understand one SPEC together with the flags."""
    specifier = parse_specifier(spec)
    source = specifier.source
    if request.index:
        if not isinstance(source, IndexSource):
            raise UsageError(f"--index does not go with `{show(spec)}`")
        if not is_skill_name(request.index):
            raise UsageError(
                f"`{show(request.index, 80)}` is no name of an index",
                hint="name one of `skillpm config get indexes`; a site by its address is a SPEC: https://site/@skill",
            )
        specifier = specifier.but(source=source.but(index=request.index))
    if not (request.ref_kind or request.path or request.link):
        return specifier
    if isinstance(source, PathSource) and request.link and not (request.ref_kind or request.path):
        return specifier.but(source=source.but(link=True))
    if not isinstance(source, GitSource) or request.link:
        flag = "--link" if request.link else "--path" if request.path else f"--{request.ref_kind}"
        raise UsageError(f"{flag} does not go with `{show(spec)}`")
    if request.ref_kind and (source.ref or specifier.browser):
        raise UsageError(f"`{show(spec)}` names a ref already, so --{request.ref_kind} would name another")
    if request.ref_kind:
        source = _at_ref(source, request, spec)
    if request.path:
        source = source.but(path=request.path.strip("/").removeprefix("./") or ".")
    return specifier.but(source=source)


def _at_ref(source: GitSource, request: Request, spec: str) -> GitSource:
    """Give a source at the ref that a flag names, checked by its kind."""
    if request.ref_kind == "rev" and not is_commit(request.ref):
        raise UsageError(
            f"`{show(request.ref)}` is no whole commit id", hint="give all of its 40 digits, or use --tag or --branch"
        )
    if request.ref_kind != "version":
        return with_ref(source, request.ref, spec).but(kind=request.ref_kind)
    if not is_range(request.ref):
        raise UsageError(f"`{show(request.ref)}` is no version range", hint=RANGE_HINT)
    return source.but(kind="version", ref=request.ref.strip())
