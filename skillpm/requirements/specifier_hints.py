"""Hints for common mistakes in a SPEC, with the corrected one, and examples of valid ones."""

import re
from collections.abc import Sequence

from skillpm.core.git_syntax import is_ref
from skillpm.core.names import is_skill_name
from skillpm.core.patterns import lazy_pattern
from skillpm.core.shell import shell_word, shell_words
from skillpm.core.text import sanitize
from skillpm.core.versions import is_range

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
