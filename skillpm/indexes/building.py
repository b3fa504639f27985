"""Write an index: what is there is read, joined with what is new, and only what differs is written.

In this order: archives, each skill's versions, the catalogue, the index for other clients. Whoever reads while this
goes on, or after it was killed, sees versions whose archives are there.
"""

import os
from collections.abc import Mapping, Sequence

from skillpm.documents.discovery_site import PATH, SiteSkill, write_site
from skillpm.documents.index import (
    Catalogue,
    Releases,
    Summary,
    read_catalogue,
    read_releases,
    write_catalogue,
    write_releases,
)
from skillpm.documents.names import SkillName, is_skill_name
from skillpm.documents.tree import Limits, checked_tree
from skillpm.errors import DocumentError, NotFoundError
from skillpm.fetching.archives.reading import read_archive
from skillpm.files import read_document, read_text, told, write_document
from skillpm.indexes.publishing import Made, planned, summary_of, yanked
from skillpm.values import Value

CATALOGUE = "index.json"


class Built(Value):
    """What a build did: the versions that are new, and the files that were written."""

    skills: int
    versions: int
    added: tuple[str, ...]
    written: tuple[str, ...]
    removed: tuple[str, ...] = ()


class Shelf:
    """An index that lies in a folder of this machine, to be written."""

    def __init__(self, folder: str, *, limits: Limits, fsync: bool = True) -> None:
        self.folder = folder
        self.limits = limits
        self.fsync = fsync
        text = read_text(self._at(CATALOGUE))
        self.is_new = text is None
        self.catalogue = Catalogue(name="", skills=()) if text is None else read_catalogue(text, self._at(CATALOGUE))
        self.releases = self._releases()

    def add(self, made: Sequence[Made], name: str = "") -> Built:
        """Publish versions. Raises `RefusedError` for one that is published already with other content."""
        plan = planned(self.releases, made)
        trees = {(item.name, item.version): summary_of(item.name, item.version, item.tree) for item in made}
        written = [path for path, data in plan.archives.items() if self._write(path, data)]
        return self._finish(plan.releases, trees, name, written, plan.added)

    def yank(self, name: SkillName, version: str, *, reason: str = "", back: bool = False) -> Built:
        """Take a version out of what is offered, or put it back."""
        if name not in self.releases:
            raise NotFoundError(f"the index in {self.folder} has no skill `{name}`")
        changed = yanked(self.releases[name], version, reason=reason, back=back)
        return self._finish({**self.releases, name: changed}, {}, "", [], ())

    def prune(self, *, drop_yanked: bool = False) -> Built:
        """Remove archives that no version names, as a build that was killed leaves them; yanked versions if asked."""
        kept = self.releases
        if drop_yanked:
            kept = {
                name: skill.but(versions=tuple(release for release in skill.versions if not release.yanked))
                for name, skill in self.releases.items()
            }
        gone = [name for name, skill in kept.items() if not skill.versions]
        built = self._finish({name: kept[name] for name in kept if name not in gone}, {}, "", [], ())
        named = {release.url for skill in kept.values() for release in skill.versions}
        removed = [f"skills/{name}.json" for name in gone]
        removed += [path for path in self._files("archives") if path not in named]
        for path in removed:
            with told("remove a file of an index", self._at(path)):
                os.unlink(self._at(path))
        return built.but(removed=tuple(sorted(removed)))

    def _finish(
        self,
        releases: Mapping[SkillName, Releases],
        fresh: Mapping[tuple[SkillName, str], Summary],
        name: str,
        written: list[str],
        added: tuple[str, ...],
    ) -> Built:
        summaries = [self._summary(skill, fresh) for skill in releases.values() if skill.latest]
        called = name or self.catalogue.name or os.path.basename(os.path.abspath(self.folder))
        documents = {f"skills/{skill}.json": write_releases(found) for skill, found in releases.items()}
        documents[CATALOGUE] = write_catalogue(Catalogue(name=called, skills=tuple(summaries)))
        documents[PATH] = write_site(_site_skill(summary, releases[summary.name]) for summary in summaries)
        written += [path for path, text in documents.items() if self._write(path, text.encode())]
        versions = sum(len(skill.versions) for skill in releases.values())
        return Built(skills=len(releases), versions=versions, added=added, written=tuple(sorted(written)))

    def _summary(self, skill: Releases, fresh: Mapping[tuple[SkillName, str], Summary]) -> Summary:
        """Give what the catalogue says of the newest version: known already, new, or read from its archive."""
        latest = skill.latest
        if latest is None:
            raise AssertionError("only skills with something to offer are in the catalogue")
        known = next((found for found in self.catalogue.skills if found.name == skill.name), None)
        if known is not None and known.latest == latest.version:
            return known
        if (skill.name, latest.version) in fresh:
            return fresh[skill.name, latest.version]
        with told("read an archive of the index", self._at(latest.url)):
            data = read_document(self._at(latest.url))
        tree = checked_tree(read_archive(data, latest.url, self.limits), name=skill.name, limits=self.limits)
        return summary_of(skill.name, latest.version, tree)

    def _releases(self) -> dict[SkillName, Releases]:
        found = {}
        for path in self._files("skills"):
            name = os.path.basename(path).removesuffix(".json")
            if path.endswith(".json") and is_skill_name(name):
                text = read_text(self._at(path))
                if text is not None:
                    releases = read_releases(text, self._at(path), name)
                    found[releases.name] = releases
        if found and self.is_new:
            raise DocumentError(
                "there are versions of skills here, and no index.json", where=self.folder, hint="is this an index?"
            )
        return found

    def _files(self, folder: str) -> list[str]:
        try:
            return sorted(f"{folder}/{name}" for name in os.listdir(self._at(folder)))
        except FileNotFoundError:
            return []

    def _at(self, path: str) -> str:
        return os.path.join(self.folder, path)

    def _write(self, path: str, data: bytes) -> bool:
        """Write a file where it differs; tell whether it did."""
        whole = self._at(path)
        with told("write an index", whole):
            if os.path.isfile(whole) and read_document(whole) == data:
                return False
            write_document(whole, data, fsync=self.fsync)
            return True


def _site_skill(summary: Summary, skill: Releases) -> SiteSkill:
    latest = next(release for release in skill.versions if release.version == summary.latest)
    # From `.well-known/agent-skills/` back to the top, wherever on its host the index lies.
    url = latest.url if "://" in latest.url else f"../../{latest.url}"
    return SiteSkill(name=summary.name, description=summary.description, type="archive", url=url, sha256=latest.sha256)
