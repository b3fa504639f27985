"""Skills from local folders, whose content is their version: when they are looked at again, and when not (ADR 12)."""

from collections.abc import Collection

from skillpm.documents.names import SkillName
from skillpm.fetching.front import Fetchers
from skillpm.operations.paperwork import Paperwork
from skillpm.resolution.resolver import is_kept
from skillpm.sources.source import PathSource


def held_folders(
    papers: Paperwork, fetchers: Fetchers, touched: Collection[str] | None, *, may_be_away: bool
) -> set[SkillName]:
    """Give the skills from local folders that stay as they are locked: those that are not meant, and, where folders
    `may_be_away`, those whose folder is not there, which is told.
    """
    held = set()
    for name, source in papers.requirements.items():
        if not isinstance(source, PathSource) or not is_kept(name, source, papers.lockfile):
            continue
        if touched is not None:
            if name not in touched:
                held.add(name)
        elif may_be_away and not fetchers.has_folder(source):
            fetchers.reporter.warning(f"{name}: its folder {source.path} is not there; it stays as it was locked")
            held.add(name)
    return held


def changed_folders(papers: Paperwork, fetchers: Fetchers, touched: Collection[str] | None) -> list[SkillName]:
    """Give the skills whose folders are not as they were locked. Raises `NotFoundError` for one that is away."""
    meant = {
        name: source
        for name, source in papers.requirements.items()
        if isinstance(source, PathSource) and not source.link and (touched is None or name in touched)
    }
    found = fetchers.pin(meant) if meant else {}
    return [name for name, new in sorted(found.items()) if new.digest != papers.lockfile.skills[name].digest]
