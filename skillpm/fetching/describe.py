"""What a fetched skill says of itself, as far as locking it needs."""

import posixpath
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from skillpm.documents.findings import NotLoadable
from skillpm.documents.names import SKILL_FILE, SKILL_FILES
from skillpm.documents.needs import FILE, needs_of
from skillpm.documents.pin import GitPin, Pin
from skillpm.documents.skill import Skill, read_skill
from skillpm.documents.text import show
from skillpm.documents.tree import Tree
from skillpm.documents.versions import is_version
from skillpm.errors import DocumentError, RefusedError
from skillpm.events import Reporter
from skillpm.fetching.base import Found

MOST_NAMED = 3


def described(
    tree: Tree, pin: Pin, name: str, warn: Callable[[str], None], inner: dict[str, Sequence[str]] | None = None
) -> Found:
    """Give what a lockfile says of a tree. Raises `RefusedError` for a SKILL.md that cannot be loaded.

    Who describes many skills gives `inner`, where the skills inside each are noted, to tell of all of them in one line.
    """
    try:
        skill = read_skill(tree.read(tree.skill_file) or b"")
    except NotLoadable as error:
        raise RefusedError(
            f"skill {show(name)}: its SKILL.md cannot be loaded: {error.finding.message}",
            where=f"{tree.skill_file}:{error.finding.line}",
            hint="tell its author; nothing was installed",
        ) from None
    if tree.skill_file != SKILL_FILE:
        warn(f"{show(name)}: its file is called {tree.skill_file}; some hosts read only {SKILL_FILE}")
    inside = [file.path for file in tree.files if "/" in file.path and posixpath.basename(file.path) in SKILL_FILES]
    if inside and inner is not None:
        inner[name] = inside
    else:
        for path in inside:
            warn(_holds(name, path))
    return Found(
        pin=pin,
        digest=tree.digest,
        version=_version(skill, pin, name, warn),
        declared=skill.declared,
        dependencies=dependencies_of(tree, skill, name),
    )


def tell_inner(inner: Mapping[str, Sequence[str]], reporter: Reporter) -> None:
    """Warn of skills inside of skills: of a few one by one, of many in one line, and with `--verbose` of each."""
    few = sum(map(len, inner.values())) <= MOST_NAMED
    tell = reporter.warning if few else reporter.note
    for name, paths in inner.items():
        for path in paths:
            tell(_holds(name, path))
    if not few:
        names = ", ".join(show(name, 64) for name in sorted(inner)[:MOST_NAMED])
        more = f" and {len(inner) - MOST_NAMED} more" if len(inner) > MOST_NAMED else ""
        who = "1 skill holds" if len(inner) == 1 else f"{len(inner)} skills hold"
        reporter.warning(f"{who} other skills inside, which some hosts load too: {names}{more} (-v names the files)")


def _holds(name: str, path: str) -> str:
    return f"{show(name)}: it holds another skill at {show(path)}, which some hosts load too"


def dependencies_of(tree: Tree, skill: Skill, name: str) -> dict[str, Any]:
    """Give the skills it needs. One that cannot say what it needs would be installed without it, so it is refused."""
    try:
        return needs_of(skill.metadata, tree.read(FILE))
    except DocumentError as error:
        raise RefusedError(
            f"skill {show(name)}: what it needs cannot be understood: {error.message}",
            where=error.where,
            hint="tell its author; nothing was installed",
        ) from error


def _version(skill: Skill, pin: Pin, name: str, warn: Callable[[str], None]) -> str:
    """Give the version: of the tag when it is one, else what the frontmatter says."""
    tag = pin.ref.removeprefix("refs/tags/") if isinstance(pin, GitPin) and pin.ref.startswith("refs/tags/") else ""
    from_tag = version_in_tag(tag, {name, skill.declared})
    if from_tag and skill.version and from_tag != skill.version:
        warn(f"{show(name)}: the tag says version {show(from_tag)}, SKILL.md says {show(skill.version)}")
    return from_tag or show(skill.version, 60)


def version_in_tag(tag: str, names: set[str]) -> str:
    """Give the version a tag names, in any of its spellings (`v1.2.0`, `pdf-v1.2.0`, `pdf@1.2.0`), or nothing."""
    candidates = [tag]
    for name in names - {""}:
        candidates.extend(
            tag.removeprefix(name + mark) for mark in ("--", "-", "@", "/") if tag.startswith(name + mark)
        )
    for text in reversed(candidates):
        bare = text.removeprefix("v")
        if bare[:1].isdigit() and is_version(bare):
            return bare
    return ""
