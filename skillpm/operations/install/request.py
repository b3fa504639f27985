"""The arguments of `install`, SPECs and the options that replace parts of one, and the requirements that they mean."""

import os
from collections.abc import Collection, Mapping
from typing import assert_never

from skillpm.core.decoder import JsonNode
from skillpm.core.git_syntax import has_credentials, is_commit
from skillpm.core.names import SkillName, is_skill_name, parse_skill_name
from skillpm.core.shell import shell_word, shell_words
from skillpm.core.text import sanitize
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.core.versions import RANGE_HINT, is_range
from skillpm.errors import DocumentError, UsageError
from skillpm.formats.pin import read_file_patterns
from skillpm.requirements.repository_url import with_ref
from skillpm.requirements.source import (
    BundledSource,
    GitSource,
    IndexSource,
    OciSource,
    PackageSource,
    PathSource,
    RefKind,
    Source,
    UrlSource,
    read_oci_source,
)
from skillpm.requirements.specifier import Specifier, parse_specifier


class InstallRequest(Value):
    """SPECs, and the options that replace parts of a SPEC."""

    specs: tuple[str, ...]
    alias: str = ""
    all_skills: bool = False
    # With `all_skills`: patterns of names to leave out.
    exclude: tuple[str, ...] = ()
    bundled: bool = False
    link: bool = False
    path: str = ""
    files: tuple[str, ...] = ()
    ref_kind: RefKind = ""
    ref: str = ""
    # SPEC -> names of the skills that the user chose of those that it contains.
    selection: Mapping[str, Collection[str]] = EMPTY_MAPPING
    index: str = ""
    # Names of the skills to install of the only SPEC.
    skills: tuple[str, ...] = ()
    # The group of the manifest to add the skills to.
    group: str = ""
    # Agent hosts to link from now on.
    agents: tuple[str, ...] = ()


class NewRequirement(Value):
    """A requirement to add to the manifest."""

    name: SkillName
    source: Source
    # A name alone, which any version from any index satisfies.
    is_bare: bool = False
    # A skill of an index without a range: it gets one, from the version that it resolves to, to the next major one.
    gets_range: bool = False


def describe_source(source: Source) -> str:
    """Describe a source for messages."""
    match source:
        case GitSource():
            at = f"#{source.ref}" if source.ref else ""
            return f"{source.url}{at} ({source.path})" if source.path not in {"", "."} else f"{source.url}{at}"
        case BundledSource():
            return "the bundled skills"
        case IndexSource():
            return source.index_url or f"an index or the bundled skills ({source.version})"
        case PathSource():
            return f"{source.path} (live link)" if source.link else source.path
        case UrlSource():
            return source.url
        case PackageSource():
            return f"{source.kind}:{source.package}" + (f"@{source.skill}" if source.skill else "")
        case OciSource():
            separator = ":" if source.kind == "tag" else "@" if source.ref else ""
            return f"oci://{source.repository}{separator}{source.ref}"
        case _:
            assert_never(source)


def format_skill_spec(spec: str, source: Source, name: str) -> str:
    """Return the SPEC of one skill of several that a SPEC contains, for a shell; `source` is that of any of them.

    After the URL of a page on a forge, or if an option names the ref, appending `@skill` would mean something else.
    """
    if isinstance(source, IndexSource):
        return shell_word(f"{source.index_url}@{name}")
    if isinstance(source, PackageSource):
        return shell_word(f"{source.kind}:{source.package}@{name}")
    if isinstance(source, OciSource):
        return shell_words([spec, "--skill", name])
    url, ref = (source.url, source.ref) if isinstance(source, GitSource) else ("", "")
    short = f"{spec}@{name}"
    try:
        parsed = parse_specifier(short)
    except UsageError:
        parsed = None
    if (
        parsed is not None
        and isinstance(parsed.source, GitSource)
        and (parsed.source.url, parsed.source.ref, parsed.source.skill) == (url, ref, name)
        and not (parsed.page_path or has_credentials(spec))
    ):
        return shell_word(short)
    return shell_word(f"{url}#{ref}@{name}" if ref else f"{url}@{name}")


def parse_with_flags(spec: str, request: InstallRequest) -> Specifier:
    """Parse one SPEC and apply the options to it."""
    specifier = parse_specifier(spec)
    for name in request.skills:
        specifier = _apply_skill(specifier, name)
    source = specifier.source
    if request.index:
        if not isinstance(source, IndexSource):
            raise UsageError(f"--index cannot be used with `{sanitize(spec)}`")
        if not is_skill_name(request.index):
            raise UsageError(
                f"invalid index name `{sanitize(request.index, 80)}`",
                hint="see `skillpm config get indexes`; for a site by its URL, use the SPEC https://site/@skill",
            )
        specifier = specifier.replace(source=source.replace(index=request.index))
    if not (request.ref_kind or request.path or request.files or request.link):
        return specifier
    has_other_flags = bool(request.path or request.files or request.link)
    if isinstance(source, OciSource) and request.ref_kind in {"tag", "version"} and not has_other_flags:
        return specifier.replace(source=_apply_oci_flags(source, request, spec))
    if isinstance(source, IndexSource) and source.index_url and request.ref_kind == "version" and not has_other_flags:
        return specifier.replace(source=source.replace(version=_check_range(request.ref)))
    if isinstance(source, PathSource) and request.link and not (request.ref_kind or request.path or request.files):
        return specifier.replace(source=source.replace(link=True))
    if not isinstance(source, GitSource) or request.link:
        chosen = {"--link": request.link, "--path": request.path, "--files": request.files}
        flag = next((flag for flag, value in chosen.items() if value), f"--{request.ref_kind}")
        raise UsageError(f"{flag} cannot be used with `{sanitize(spec)}`")
    return specifier.replace(source=_apply_git_flags(specifier, source, request, spec))


def _apply_skill(specifier: Specifier, name: str) -> Specifier:
    """Return the specifier of one of several skills, as `@NAME` in a SPEC selects it."""
    source, spec = specifier.source, specifier.text
    if isinstance(source, GitSource | PackageSource | OciSource) and not source.skill:
        return specifier.replace(source=source.replace(skill=name))
    if isinstance(source, PathSource):
        return specifier.replace(source=source.replace(path=os.path.join(source.path, parse_skill_name(name))))
    if isinstance(source, UrlSource) and "://" in source.url:
        return parse_specifier(f"{spec}@{parse_skill_name(name)}")
    if isinstance(source, GitSource | PackageSource) or (isinstance(source, IndexSource) and source.index_url):
        raise UsageError(f"`{sanitize(spec)}` already names a skill, which conflicts with --skill")
    raise UsageError(f"--skill cannot be used with `{sanitize(spec)}`")


def _apply_git_flags(specifier: Specifier, source: GitSource, request: InstallRequest, spec: str) -> GitSource:
    if request.ref_kind and (source.ref or specifier.page_path):
        raise UsageError(f"`{sanitize(spec)}` already has a ref, which conflicts with --{request.ref_kind}")
    if request.ref_kind:
        source = _apply_ref(source, request, spec)
    if request.path:
        source = source.replace(path=request.path.strip("/").removeprefix("./") or ".")
    if request.files:
        source = source.replace(files=read_file_patterns(JsonNode(list(request.files), "--files")))
    return source


def _apply_oci_flags(source: OciSource, request: InstallRequest, spec: str) -> OciSource:
    if source.ref:
        raise UsageError(f"`{sanitize(spec)}` already has a version, which conflicts with --{request.ref_kind}")
    value = {"oci": source.repository, request.ref_kind: request.ref}
    try:
        return read_oci_source(SkillName(""), JsonNode(value, f"--{request.ref_kind}")).replace(skill=source.skill)
    except DocumentError as error:
        raise UsageError(error.message, where=error.where, hint=error.hint) from error


def _apply_ref(source: GitSource, request: InstallRequest, spec: str) -> GitSource:
    """Return the source at the ref of an option, validated by its kind."""
    if request.ref_kind == "rev" and not is_commit(request.ref):
        raise UsageError(
            f"`{sanitize(request.ref)}` is not a full commit ID",
            hint="use all 40 digits, or --tag or --branch",
        )
    if request.ref_kind != "version":
        return with_ref(source, request.ref, spec).replace(kind=request.ref_kind)
    return source.replace(kind="version", ref=_check_range(request.ref))


def _check_range(text: str) -> str:
    if not is_range(text):
        raise UsageError(f"invalid version range `{sanitize(text)}`", hint=RANGE_HINT)
    return text.strip()
