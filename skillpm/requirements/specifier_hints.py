"""What people type by mistake where a SPEC is asked for, and the words that they meant; examples of what a SPEC is."""

import re
from collections.abc import Sequence
from shlex import quote

from skillpm.core.git_syntax import is_ref
from skillpm.core.names import is_skill_name
from skillpm.core.text import sanitize
from skillpm.core.versions import is_range

EXAMPLES = "e.g. code-review, owner/repo@skill, https://github.com/owner/repo, ./folder"
SKILL_WITH_SUFFIX = re.compile(r"([^@\s]+/[^@\s]+)@([a-z0-9-]+)(?:@(.+)|([<>=!~^].*))", re.ASCII)
# What behind a second `@` is rather a branch or a tag than another skill.
REF_LIKE = re.compile(r"main|master|trunk|head|dev|develop|next|stable|latest|release|v?[0-9].*", re.ASCII)
SHORTHAND = r"(?:git(?:hub|lab):)?[\w-]+/[\w.-]+"
REPOSITORY_WITH_SUFFIX = re.compile(rf"({SHORTHAND}(?:/[^@#:\s]+)?)@(\S+)", re.ASCII)
REPOSITORY_WITH_COLON = re.compile(rf"({SHORTHAND}):/?([^@#:\s]+)", re.ASCII)
TWO_HASHES = re.compile(rf"({SHORTHAND})#([^#@\s]+)#([a-z0-9-]+)", re.ASCII)
GIST = re.compile(r"(?:https?://)?(gist\.github\.com/[\w-]+/[0-9a-f]+)/?", re.ASCII)
# What people paste whole, a command with its SPEC, and the words before that.
COMMANDS = (("skillpm", "install"), ("skillpm", "add"), ("npx", "skills", "add"), ("skills", "add"))
NON_REPOSITORY_PREFIXES = (".", "/", "~", "link:", "bundled:", "git+")


def mistake_hint(spec: str) -> str:
    """Say what to type instead of what people type by mistake; nothing where that is not known."""
    return next(
        filter(
            None,
            (
                look(spec)
                for look in (
                    _pasted_command_hint,
                    _repository_hint,
                    _name_hint,
                    _skill_suffix_hint,
                    _repository_suffix_hint,
                )
            ),
        ),
        "",
    )


def _pasted_command_hint(spec: str) -> str:
    """Say what of a whole command that was pasted is the SPEC."""
    words = spec.split()
    if words[:2] == ["git", "clone"] and len(words) > 2:  # noqa: PLR2004  (and an address)
        return f"only the address: {sanitize(next((word for word in words[2:] if not word.startswith('-')), ''))}"
    for command in COMMANDS:
        if tuple(words[: len(command)]) == command and len(words) > len(command):
            return f"only what stands behind it: {sanitize(' '.join(words[len(command) :]))}"
    return ""


def _name_hint(spec: str) -> str:
    """Say how several names, or one in capitals or of the newest, are written."""
    names = [part.strip() for part in spec.split(",")]
    if len(names) > 1 and all(map(is_skill_name, names)):
        return f"several skills have blanks between them: skillpm install {' '.join(names)}"
    if several := _several_specs_command(names):
        return f"each skill is a SPEC of its own: {several}"
    if spec.isascii() and is_skill_name(spec.lower().removeprefix("@")):
        lower = spec.lower().removeprefix("@")
        return f"names are in lower case, without `@`: {lower}" if lower != spec else ""
    name, _, wanted = spec.partition("@")
    if is_skill_name(name) and wanted.lower() in {"latest", "newest"}:
        return f"the newest is what you get anyway: {name}"
    return ""


def _skill_suffix_hint(spec: str) -> str:
    """Say how a range, a ref or a second skill behind a first one is written."""
    if ranged := SKILL_WITH_SUFFIX.fullmatch(spec):
        place, skill, behind = ranged[1], ranged[2], (ranged[3] or ranged[4]).strip()
        if is_range(behind):
            return f"a range is a flag: skillpm install {place.partition('#')[0]}@{skill} --version '{behind}'"
        if is_ref(behind) and "#" not in place:
            before = f"the ref comes before the skill: '{place}#{behind}@{skill}'"
            is_skill = is_skill_name(behind) and not REF_LIKE.fullmatch(behind)
            return (
                f"for two skills: {_several_specs_command([f'{place}@{skill}', behind])}; {before}"
                if is_skill
                else before
            )
    before, found, ref = spec.partition("#")
    place, at, skill = before.rpartition("@")
    if found and at and "/" in place and is_skill_name(skill) and is_ref(ref) and not place.startswith("git+"):
        return f"the ref comes before the skill: '{sanitize(place)}#{sanitize(ref)}@{skill}'"
    return ""


def _repository_hint(spec: str) -> str:
    """Say how a repository is written that was named in another way; nothing where it was not."""
    if gist := GIST.fullmatch(spec):
        return f"a gist is a git repository: https://{gist[1]}.git"
    if re.match(r"(?:https?://)?www\.git(?:hub|lab)\.com/", spec):
        return f"without `www.`: {sanitize(spec.replace('www.', '', 1))}"
    if re.fullmatch(rf"@{SHORTHAND}(?:@\S+)?", spec, re.ASCII):
        return f"without `@` in front: {spec[1:]}"
    if spec.startswith("gh:"):
        return f"the forge is called github: {sanitize(f'github:{spec[3:]}')}"
    return ""


def _repository_suffix_hint(spec: str) -> str:
    """Say how what stands behind a repository, or behind a folder in it, is written; nothing where it is right."""
    if colon := REPOSITORY_WITH_COLON.fullmatch(spec):
        place, inside = colon[1], colon[2]
        is_name = is_skill_name(inside)
        return (
            f"a skill of a repository: {place}@{inside}" if is_name else f"a folder in it: {place}/{sanitize(inside)}"
        )
    if twice := TWO_HASHES.fullmatch(spec):
        return f"the skill comes behind `@`: '{twice[1]}#{twice[2]}@{twice[3]}'"
    if (behind := REPOSITORY_WITH_SUFFIX.fullmatch(spec)) is None:
        return ""
    place, said = behind[1], behind[2]
    has_folder = place.count("/") > 1
    if is_range(said) and (has_folder or not is_skill_name(said)):
        one = place if has_folder else f"{place}@NAME"
        return f"a range is a flag: skillpm install {one} --version '{said}'"
    if has_folder and REF_LIKE.fullmatch(said) and is_ref(said):
        return f"the ref comes behind `#`: '{place}#{said}'"
    return ""


def _several_specs_command(parts: Sequence[str]) -> str:
    """Give the command for `owner/repo@one,two` and `owner/repo@one, owner/repo@two`, split at commas."""
    specs: list[str] = []
    place = ""
    for part in parts:
        before, at, name = part.rpartition("@")
        place = before if at else place
        if not ("/" in place and is_skill_name(name)) or place.startswith(NON_REPOSITORY_PREFIXES):
            return ""
        specs.append(f"{place}@{name}")
    return f"skillpm install {' '.join(quote(sanitize(spec)) for spec in specs)}" if len(specs) > 1 else ""
