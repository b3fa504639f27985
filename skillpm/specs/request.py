"""The arguments of `install`, SPECs and the options that replace parts of one, and the requirements that they mean."""

from collections.abc import Collection, Mapping

from skillpm.core.git_syntax import has_credentials
from skillpm.core.names import SkillName, is_skill_name, parse_skill_name
from skillpm.core.shell import shell_word
from skillpm.core.text import sanitize
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.errors import UsageError
from skillpm.kinds.base import Source, SpecOptions
from skillpm.kinds.git import GitSource, ref_conflict
from skillpm.requirements.specifier import Specifier, parse_specifier


class InstallRequest(SpecOptions):
    """SPECs, and the options that replace parts of a SPEC."""

    specs: tuple[str, ...]
    alias: str = ""
    all_skills: bool = False
    # With `all_skills`: patterns of names to leave out.
    exclude: tuple[str, ...] = ()
    bundled: bool = False
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
    # With `--all`: the SPEC of the folder, site or package that the skill is one of; it may be left out.
    place: str = ""
    # A skill of an index without a range: it gets one, from the version that it resolves to, to the next major one.
    gets_range: bool = False


def format_skill_spec(spec: str, source: Source, name: str) -> str:
    """Return the SPEC of one skill of several that a SPEC contains, for a shell; `source` is that of any of them.

    After the URL of a page on a forge, or if an option names the ref, appending `@skill` would mean something else.
    """
    if not isinstance(source, GitSource):
        return source.skill_spec(spec, name)
    url, ref = source.url, source.ref
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
        if (named := source.with_index(request.index)) is None:
            raise UsageError(f"--index cannot be used with `{sanitize(spec)}`")
        if not is_skill_name(request.index):
            raise UsageError(
                f"invalid index name `{sanitize(request.index, 80)}`",
                hint="see `skillpm config get indexes`; for a site by its URL, use the SPEC https://site/@skill",
            )
        specifier = specifier.replace(source=named)
    if not (request.ref_kind or request.path or request.files or request.link):
        return specifier
    if specifier.page_path and request.ref_kind and not request.link:
        raise ref_conflict(request.ref_kind, spec)
    if (changed := source.with_options(request, spec)) is None:
        chosen = {"--link": request.link, "--path": request.path, "--files": request.files}
        flag = next((flag for flag, value in chosen.items() if value), f"--{request.ref_kind}")
        raise UsageError(f"{flag} cannot be used with `{sanitize(spec)}`")
    return specifier.replace(source=changed)


def _apply_skill(specifier: Specifier, name: str) -> Specifier:
    """Return the specifier of one of several skills, as `@NAME` in a SPEC selects it."""
    source, spec = specifier.source, specifier.text
    if (selected := source.select(name)) is not None:
        return specifier.replace(source=selected)
    if source.scheme == "url" and not source.local_path:
        return parse_specifier(f"{spec}@{parse_skill_name(name)}")
    if source.names_skill:
        raise UsageError(f"`{sanitize(spec)}` already names a skill, which conflicts with --skill")
    raise UsageError(f"--skill cannot be used with `{sanitize(spec)}`")
