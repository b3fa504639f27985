"""SPEC, the argument that names a skill to install, in all its forms (docs/specs.md)."""

import re
from collections.abc import Sequence

from skillpm.core.git_syntax import FORGES, SCP_URL, is_ref, normalize_web_url
from skillpm.core.json_text.decoder import JsonNode
from skillpm.core.names import is_skill_name
from skillpm.core.patterns import lazy_pattern
from skillpm.core.shell import shell_word, shell_words
from skillpm.core.text import HIDDEN, sanitize
from skillpm.core.values import Value
from skillpm.core.versions import is_range
from skillpm.errors import DocumentError, UsageError
from skillpm.kinds import parse_prefixed
from skillpm.kinds.base import EXAMPLES, Source, check_name
from skillpm.kinds.index import IndexSource, normalize_site_url
from skillpm.requirements.forge_pages import is_forge_page, parse_forge_page
from skillpm.requirements.repository_url import parse_forge_shorthand, parse_pip_url, parse_repository

# An address in the HTML catalog of an index: `https://site/catalog.html#/skill/pdf`; a server may show it as `/`.
CATALOG_PAGE = lazy_pattern(
    r"(?:(https?://[^?#]+/)(?:catalog\.html|index\.html)|(https?://[^?#]+/)(?=#))(?:#/(?:skill/([a-z0-9-]+))?[^@]*)?"
)
NAMED_SKILL = lazy_pattern(r"([a-z0-9-]+)(?:@(.+)|([<>=!~^].*))?", re.ASCII)
ARCHIVE_SUFFIXES = (".tar.gz", ".tgz", ".zip")
# In the path of a repository: `x.git`, and `_git/x` on Azure DevOps.
GIT_SUFFIX = lazy_pattern(r"[^/]\.git(?:[@/]|$)|(?:^|/)_git/[^/?@]+(?:@|/?$)")
FORGE_PREFIXES = {"github:": "github.com", "gitlab:": "gitlab.com"}
SKILL_WITH_SUFFIX = lazy_pattern(r"([^@\s]+/[^@\s]+)@([a-z0-9-]+)(?:@(.+)|([<>=!~^].*))", re.ASCII)
# After a second `@`: more likely a branch or a tag than another skill.
REF_LIKE = lazy_pattern(r"main|master|trunk|head|dev|develop|next|stable|latest|release|v?[0-9].*", re.ASCII)
SHORTHAND = r"(?:git(?:hub|lab):)?[\w-]+/[\w.-]+"
REPOSITORY_WITH_SUFFIX = lazy_pattern(rf"({SHORTHAND}(?:/[^@#:\s]+)?)@(\S+)", re.ASCII)
REPOSITORY_WITH_COLON = lazy_pattern(rf"({SHORTHAND}):/?([^@#:\s]+)", re.ASCII)
TWO_HASHES = lazy_pattern(rf"({SHORTHAND})#([^#@\s]+)#([a-z0-9-]+)", re.ASCII)
GIST = lazy_pattern(r"(?:https?://)?(gist\.github\.com/[\w-]+/[0-9a-f]+)/?", re.ASCII)
# Catalogs of skills that others serve.
SKILLS_SH = lazy_pattern(r"(?:https?://)?(?:www\.)?skills\.sh/([\w-]+/[\w.-]+)(?:/([\w.-]+))?/?(?:[?#].*)?", re.ASCII)
CLAWHUB = lazy_pattern(
    r"(?:https?://)?(?:www\.)?clawhub\.(?:ai|com)/(?!api/)(?:[\w-]+/){1,2}([a-z0-9-]+)/?(?:[?#].*)?", re.ASCII
)
# The commands that users paste together with their SPEC.
COMMANDS = (("skillpm", "install"), ("skillpm", "add"), ("npx", "skills", "add"), ("skills", "add"))
NON_REPOSITORY_PREFIXES = (".", "/", "~", "link:", "bundled:", "git+")


class Specifier(Value):
    """A parsed SPEC."""

    text: str
    source: Source
    # The `REF/PATH` of a forge's page, see `parse_forge_page`.
    page_path: str = ""


def parse_specifier(text: str) -> Specifier:
    """Parse a SPEC. Raises `UsageError` with a correction or examples as the hint."""
    spec = text.strip()
    if not spec:
        raise UsageError("the SPEC is empty", hint=EXAMPLES)
    if HIDDEN.search(spec):
        raise UsageError(f"invalid SPEC `{sanitize(spec)}`", hint=EXAMPLES)
    if hint := mistake_hint(spec):
        raise UsageError(f"invalid SPEC `{sanitize(spec)}`", hint=hint)
    if source := parse_prefixed(spec) or _parse_path(spec):
        return Specifier(text=spec, source=source)
    return _parse_remote(_strip_catalog_page(spec)).replace(text=spec)


def _strip_catalog_page(spec: str) -> str:
    """Return the SPEC of the skill or the site that an address in an HTML catalog shows; any other SPEC unchanged."""
    page = CATALOG_PAGE.fullmatch(spec)
    if page is None:
        return spec
    site, skill = page[1] or page[2], page[3]
    return f"{site}@{skill}" if skill else site


def _parse_path(spec: str) -> Source | None:
    """Parse the path of a folder or an archive."""
    if spec.startswith(("./", "../", "/", "~/", ".\\", "..\\")) or spec in {".", "..", "~"} or spec[1:3] == ":\\":
        if spec.endswith(ARCHIVE_SUFFIXES):
            return _archive(spec)
        from skillpm.kinds.local import PathSource  # noqa: PLC0415  (only for a local folder)

        return PathSource(path=spec)
    return None


def _archive(url: str) -> Source:
    from skillpm.kinds.archive import UrlSource  # noqa: PLC0415  (most SPECs are repositories)

    return UrlSource(url=url)


def _parse_remote(spec: str) -> Specifier:
    """Parse repositories, URLs and names."""
    for prefix, host in FORGE_PREFIXES.items():
        if spec.startswith(prefix):
            rest = spec.removeprefix(prefix)
            if is_forge_page(host, rest):
                return _parse_page(spec, f"https://{host}", rest)
            return Specifier(text=spec, source=parse_forge_shorthand(spec, host, rest))
    if spec.startswith("git+"):
        return Specifier(text=spec, source=parse_pip_url(spec))
    if "://" in spec:
        return _parse_url(spec)
    if SCP_URL.fullmatch(spec.split("#", maxsplit=1)[0]) and "@" in spec.split(":", maxsplit=1)[0]:
        return Specifier(text=spec, source=parse_repository(spec, spec))
    if "/" in spec:
        first = spec.partition("/")[0].lower()
        if first in FORGES:
            return _parse_url(f"https://{spec}").replace(text=spec)
        if "." in first and spec.count("/") > 1:  # a host: GitHub user names have no dots
            raise UsageError(f"invalid SPEC `{sanitize(spec)}`", hint=f"for other hosts: https://{sanitize(spec)}")
        return Specifier(text=spec, source=parse_forge_shorthand(spec, "github.com", spec))
    return Specifier(text=spec, source=_parse_name(spec))


def _parse_page(spec: str, site: str, path: str) -> Specifier:
    source, page_path = parse_forge_page(spec, site, path)
    return Specifier(text=spec, source=source, page_path=page_path)


def _parse_name(spec: str) -> Source:
    match = NAMED_SKILL.fullmatch(spec)
    if match is None:
        raise UsageError(f"invalid SPEC `{sanitize(spec)}`", hint=EXAMPLES)
    version_range = (match[2] or match[3] or "*").strip()
    if not is_range(version_range):
        raise UsageError(
            f"invalid version range `{sanitize(version_range)}`",
            hint='e.g. `name@^1.2`, `name@1.2.0` or `"name>=1.2,<2"`',
        )
    return IndexSource(name=check_name(match[1], spec), version=version_range)


def _parse_url(spec: str) -> Specifier:
    scheme = spec.partition("://")[0].lower()
    head = spec.partition("#")[0]
    host, _, path = head.partition("://")[2].partition("/")
    host = host.rpartition("@")[2].lower()
    is_web = scheme in {"http", "https"}
    if is_web and (named := _split_site_skill(spec)):
        return Specifier(text=spec, source=_site_source(*named, spec))
    if is_web and path.endswith(ARCHIVE_SUFFIXES):
        return Specifier(text=spec, source=_archive(normalize_web_url(spec)))
    site = f"https://{host}" if host in FORGES else f"{scheme}://{host}"
    is_repository = GIT_SUFFIX.search(path) is not None
    if is_web and not is_repository and is_forge_page(host, path):
        return _parse_page(spec, site, path)
    if scheme in {"ssh", "file", "git"} or is_repository or "#" in spec:
        return Specifier(text=spec, source=parse_repository(spec, spec))
    if is_web and host in FORGES:
        return _parse_page(spec, site, path)
    if is_web and "@" in path.rsplit("/", 1)[-1]:
        return Specifier(text=spec, source=parse_repository(spec, spec))
    if not is_web:
        raise UsageError(f"`{sanitize(scheme)}://` is not supported", hint=EXAMPLES)
    return Specifier(text=spec, source=_archive(normalize_web_url(spec)))


def _split_site_skill(spec: str) -> tuple[str, str] | None:
    """Split `https://site/path/@skill` into URL and skill.

    The form `https://site@skill` is accepted only if `site` looks like a host: URLs have user info before an `@`.
    """
    url, at, name = spec.rpartition("@")
    rest = url.partition("://")[2]
    if not at or not is_skill_name(name) or {"#", "?"} & {*url}:
        return None
    host, _, port = rest.partition(":")
    is_host = ("." in host or host == "localhost") and "@" not in rest and (port.isdigit() or rest == host)
    return (url, name) if (rest.endswith("/") and rest != "/") or ("/" not in rest and is_host) else None


def _site_source(url: str, name: str, spec: str) -> IndexSource:
    try:
        return IndexSource(name=check_name(name, spec), index=normalize_site_url(JsonNode(url, "SPEC")))
    except DocumentError as error:
        raise UsageError(error.message, hint=EXAMPLES) from error


def mistake_hint(spec: str) -> str:
    """Return the hint for a mistake in a SPEC; empty if it has no known one."""
    return (
        _pasted_command_hint(spec)
        or _registry_hint(spec)
        or _repository_hint(spec)
        or _name_hint(spec)
        or _skill_suffix_hint(spec)
        or _repository_suffix_hint(spec)
    )


def _pasted_command_hint(spec: str) -> str:
    """Return the SPEC in a pasted command."""
    words = spec.split()
    if words[:2] == ["git", "clone"] and len(words) > 2:  # noqa: PLR2004  (and a URL)
        return f"pass only the URL: {sanitize(next((word for word in words[2:] if not word.startswith('-')), ''))}"
    for command in COMMANDS:
        if tuple(words[: len(command)]) == command and len(words) > len(command):
            return f"pass only its arguments: {sanitize(' '.join(words[len(command) :]))}"
    return ""


def _registry_hint(spec: str) -> str:
    """Return the SPEC of a reference as other clients of OCI registries write it: `oci:HOST/PATH`, `docker://…`."""
    scheme, colon, rest = spec.partition(":")
    is_registry = scheme.lower() in {"oci", "docker"} and colon and not spec.lower().startswith("oci://")
    return f"a repository in an OCI registry is oci://{sanitize(rest.lstrip('/'))}" if is_registry else ""


def _name_hint(spec: str) -> str:
    """Return the hint for several names, upper case, `_`, or `@latest`."""
    names = [part.strip() for part in spec.split(",")]
    if len(names) > 1 and all(map(is_skill_name, names)):
        return f"separate several skills with spaces: skillpm install {shell_words(names)}"
    if command := _several_specs_command(names):
        return f"each skill needs its own SPEC: {command}"
    if spec.isascii() and is_skill_name(spec.lower().removeprefix("@")):
        lower = spec.lower().removeprefix("@")
        return f"names are lower case, without `@`: {lower}" if lower != spec else ""
    if spec.isascii() and is_skill_name(dashed := spec.lower().replace("_", "-")):
        return f"names have hyphens instead of `_`: {dashed}"
    name, _, suffix = spec.partition("@")
    if is_skill_name(name) and suffix.lower() in {"latest", "newest"}:
        return f"the newest version is the default: {name}"
    return ""


def _skill_suffix_hint(spec: str) -> str:
    """Return the hint for a range, a ref or another skill after `owner/repo@skill`."""
    if match := SKILL_WITH_SUFFIX.fullmatch(spec):
        repository, skill, suffix = match[1], match[2], (match[3] or match[4]).strip()
        if is_range(suffix):
            skill_spec = f"{repository.partition('#')[0]}@{skill}"
            return f"use --version: skillpm install {shell_word(skill_spec)} --version {shell_word(suffix)}"
        if is_ref(suffix) and "#" not in repository:
            hint = f"the ref comes before the skill: '{repository}#{suffix}@{skill}'"
            is_skill = is_skill_name(suffix) and not REF_LIKE.fullmatch(suffix)
            command = _several_specs_command([f"{repository}@{skill}", suffix])
            return f"for two skills: {command}; {hint}" if is_skill else hint
    head, hash_sign, ref = spec.partition("#")
    repository, at, skill = head.rpartition("@")
    if (
        hash_sign
        and at
        and "/" in repository
        and is_skill_name(skill)
        and is_ref(ref)
        and not repository.startswith("git+")
    ):
        return f"the ref comes before the skill: '{sanitize(repository)}#{sanitize(ref)}@{skill}'"
    return ""


def _repository_hint(spec: str) -> str:
    """Return the hint for another spelling of a repository or a package."""
    if gist := GIST.fullmatch(spec):
        return f"a gist is a git repository: https://{gist[1]}.git"
    if page := SKILLS_SH.fullmatch(spec):
        skill = f"@{page[2]}" if page[2] and is_skill_name(page[2]) else ""
        return f"skills.sh lists repositories on GitHub: {page[1]}{skill}"
    if page := CLAWHUB.fullmatch(spec):
        return f"ClawHub serves a skill as an archive: 'https://clawhub.ai/api/v1/download?slug={page[1]}'"
    if re.match(r"(?:https?://)?www\.git(?:hub|lab)\.com/", spec):
        return f"without `www.`: {sanitize(spec.replace('www.', '', 1))}"
    if re.fullmatch(rf"@{SHORTHAND}(?:@\S+)?", spec, re.ASCII):
        return f"without the leading `@`: {spec[1:]}"
    if spec.startswith(("pypi:", "pip:")):
        return f"for a package that is installed: env:{sanitize(spec.partition(':')[2])}"
    if spec.startswith("gh:"):
        return f"use the prefix github: {sanitize(f'github:{spec[3:]}')}"
    return ""


def _repository_suffix_hint(spec: str) -> str:
    """Return the hint for a folder, a skill, a ref or a range after a repository or a folder in it."""
    if colon := REPOSITORY_WITH_COLON.fullmatch(spec):
        repository, inside = colon[1], colon[2]
        if is_skill_name(inside):
            return f"for a skill from a repository: {repository}@{inside}"
        return f"for a folder of a repository: {repository}/{sanitize(inside)}"
    if hashes := TWO_HASHES.fullmatch(spec):
        return f"the skill follows `@`: '{hashes[1]}#{hashes[2]}@{hashes[3]}'"
    if (match := REPOSITORY_WITH_SUFFIX.fullmatch(spec)) is None:
        return ""
    repository, suffix = match[1], match[2]
    has_folder = repository.count("/") > 1
    if is_range(suffix) and (has_folder or not is_skill_name(suffix)):
        skill_spec = repository if has_folder else f"{repository}@NAME"
        return f"use --version: skillpm install {shell_word(skill_spec)} --version {shell_word(suffix)}"
    if has_folder and REF_LIKE.fullmatch(suffix) and is_ref(suffix):
        return f"the ref follows `#`: '{repository}#{suffix}'"
    return ""


def _several_specs_command(parts: Sequence[str]) -> str:
    """Return the command for `owner/repo@one,two` or `owner/repo@one, owner/repo@two`, already split at commas."""
    specs: list[str] = []
    repository = ""
    for part in parts:
        prefix, at, name = part.rpartition("@")
        repository = prefix if at else repository
        if not ("/" in repository and is_skill_name(name)) or repository.startswith(NON_REPOSITORY_PREFIXES):
            return ""
        specs.append(f"{repository}@{name}")
    return f"skillpm install {shell_words(specs)}" if len(specs) > 1 else ""
