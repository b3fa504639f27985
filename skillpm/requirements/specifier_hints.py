"""What people type by mistake where a SPEC is asked for, and the words that they meant; examples of what a SPEC is."""

import re
from collections.abc import Sequence
from shlex import quote

from skillpm.core.git_syntax import is_ref
from skillpm.core.names import is_skill_name
from skillpm.core.text import show
from skillpm.core.versions import is_range

EXAMPLES = "e.g. code-review, owner/repo@skill, https://github.com/owner/repo, ./folder"
RANGED = re.compile(r"([^@\s]+/[^@\s]+)@([a-z0-9-]+)(?:@(.+)|([<>=!~^].*))", re.ASCII)
# What behind a second `@` is rather a branch or a tag than another skill.
REF = re.compile(r"main|master|trunk|head|dev|develop|next|stable|latest|release|v?[0-9].*", re.ASCII)
SHORT = r"(?:git(?:hub|lab):)?[\w-]+/[\w.-]+"
BEHIND_PLACE = re.compile(rf"({SHORT}(?:/[^@#:\s]+)?)@(\S+)", re.ASCII)
BEHIND_COLON = re.compile(rf"({SHORT}):/?([^@#:\s]+)", re.ASCII)
TWO_HASHES = re.compile(rf"({SHORT})#([^#@\s]+)#([a-z0-9-]+)", re.ASCII)
GIST = re.compile(r"(?:https?://)?(gist\.github\.com/[\w-]+/[0-9a-f]+)/?", re.ASCII)
# What people paste whole, a command with its SPEC, and the words before that.
COMMANDS = (("skillpm", "install"), ("skillpm", "add"), ("npx", "skills", "add"), ("skills", "add"))
NO_REPOSITORY = (".", "/", "~", "link:", "bundled:", "git+")


def meant(spec: str) -> str:
    """Say what to type instead of what people type by mistake; nothing where that is not known."""
    return next(filter(None, (look(spec) for look in (_pasted, _place, _names, _behind_a_skill, _behind_a_place))), "")


def _pasted(spec: str) -> str:
    """Say what of a whole command that was pasted is the SPEC."""
    words = spec.split()
    if words[:2] == ["git", "clone"] and len(words) > 2:  # noqa: PLR2004  (and an address)
        return f"only the address: {show(next((word for word in words[2:] if not word.startswith('-')), ''))}"
    for command in COMMANDS:
        if tuple(words[: len(command)]) == command and len(words) > len(command):
            return f"only what stands behind it: {show(' '.join(words[len(command) :]))}"
    return ""


def _names(spec: str) -> str:
    """Say how several names, or one in capitals or of the newest, are written."""
    names = [part.strip() for part in spec.split(",")]
    if len(names) > 1 and all(map(is_skill_name, names)):
        return f"several skills have blanks between them: skillpm install {' '.join(names)}"
    if several := _several(names):
        return f"each skill is a SPEC of its own: {several}"
    if spec.isascii() and is_skill_name(spec.lower().removeprefix("@")):
        lower = spec.lower().removeprefix("@")
        return f"names are in lower case, without `@`: {lower}" if lower != spec else ""
    name, _, wanted = spec.partition("@")
    if is_skill_name(name) and wanted.lower() in {"latest", "newest"}:
        return f"the newest is what you get anyway: {name}"
    return ""


def _behind_a_skill(spec: str) -> str:
    """Say how a range, a ref or a second skill behind a first one is written."""
    if ranged := RANGED.fullmatch(spec):
        place, skill, behind = ranged[1], ranged[2], (ranged[3] or ranged[4]).strip()
        if is_range(behind):
            return f"a range is a flag: skillpm install {place.partition('#')[0]}@{skill} --version '{behind}'"
        if is_ref(behind) and "#" not in place:
            before = f"the ref comes before the skill: '{place}#{behind}@{skill}'"
            is_skill = is_skill_name(behind) and not REF.fullmatch(behind)
            return f"for two skills: {_several([f'{place}@{skill}', behind])}; {before}" if is_skill else before
    before, found, ref = spec.partition("#")
    place, at, skill = before.rpartition("@")
    if found and at and "/" in place and is_skill_name(skill) and is_ref(ref) and not place.startswith("git+"):
        return f"the ref comes before the skill: '{show(place)}#{show(ref)}@{skill}'"
    return ""


def _place(spec: str) -> str:
    """Say how a repository is written that was named in another way; nothing where it was not."""
    if gist := GIST.fullmatch(spec):
        return f"a gist is a git repository: https://{gist[1]}.git"
    if re.match(r"(?:https?://)?www\.git(?:hub|lab)\.com/", spec):
        return f"without `www.`: {show(spec.replace('www.', '', 1))}"
    if re.fullmatch(rf"@{SHORT}(?:@\S+)?", spec, re.ASCII):
        return f"without `@` in front: {spec[1:]}"
    if spec.startswith("gh:"):
        return f"the forge is called github: {show(f'github:{spec[3:]}')}"
    return ""


def _behind_a_place(spec: str) -> str:
    """Say how what stands behind a repository, or behind a folder in it, is written; nothing where it is right."""
    if colon := BEHIND_COLON.fullmatch(spec):
        place, inside = colon[1], colon[2]
        is_name = is_skill_name(inside)
        return f"a skill of a repository: {place}@{inside}" if is_name else f"a folder in it: {place}/{show(inside)}"
    if twice := TWO_HASHES.fullmatch(spec):
        return f"the skill comes behind `@`: '{twice[1]}#{twice[2]}@{twice[3]}'"
    if (behind := BEHIND_PLACE.fullmatch(spec)) is None:
        return ""
    place, said = behind[1], behind[2]
    has_folder = place.count("/") > 1
    if is_range(said) and (has_folder or not is_skill_name(said)):
        one = place if has_folder else f"{place}@NAME"
        return f"a range is a flag: skillpm install {one} --version '{said}'"
    if has_folder and REF.fullmatch(said) and is_ref(said):
        return f"the ref comes behind `#`: '{place}#{said}'"
    return ""


def _several(parts: Sequence[str]) -> str:
    """Give the command for `owner/repo@one,two` and `owner/repo@one, owner/repo@two`, split at commas."""
    specs: list[str] = []
    place = ""
    for part in parts:
        before, at, name = part.rpartition("@")
        place = before if at else place
        if not ("/" in place and is_skill_name(name)) or place.startswith(NO_REPOSITORY):
            return ""
        specs.append(f"{place}@{name}")
    return f"skillpm install {' '.join(quote(show(spec)) for spec in specs)}" if len(specs) > 1 else ""
