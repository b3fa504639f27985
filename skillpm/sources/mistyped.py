"""What people type by mistake where a SPEC is asked for, and the words that they meant."""

import re
from collections.abc import Sequence
from shlex import quote

from skillpm.documents.git_words import is_ref
from skillpm.documents.names import is_skill_name
from skillpm.documents.text import show
from skillpm.documents.versions import is_range

RANGED = re.compile(r"([^@\s]+/[^@\s]+)@([a-z0-9-]+)(?:@(.+)|([<>=!~^].*))", re.ASCII)
# What behind a second `@` is rather a branch or a tag than another skill.
REF = re.compile(r"main|master|trunk|head|dev|develop|next|stable|latest|release|v?[0-9].*", re.ASCII)
NO_REPOSITORY = (".", "/", "~", "link:", "bundled:", "git+")


def meant(spec: str) -> str:
    """Say what to type instead of what people type by mistake; nothing where that is not known."""
    words = spec.split()
    if words[:2] == ["git", "clone"] and len(words) > 2:  # noqa: PLR2004  (and an address)
        return f"only the address: {show(next((word for word in words[2:] if not word.startswith('-')), ''))}"
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
