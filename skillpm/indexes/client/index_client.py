"""All indexes of a run, opened: who knows a name, which version is taken, and its bytes into the store."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import TypeVar

from skillpm.core.digest import Digest
from skillpm.core.exclude_newer import Cutoff
from skillpm.core.file_tree import Tree
from skillpm.core.names import SkillName
from skillpm.core.text import show
from skillpm.core.versions import ANY
from skillpm.errors import DigestMismatch, NotFoundError, RefusedError
from skillpm.events import Reporter
from skillpm.fetchers.base import Found, variant_of
from skillpm.fetchers.http.client import Web
from skillpm.fetchers.metadata import described
from skillpm.formats.index_sources import NAME_IT, IndexPlace
from skillpm.formats.lockfile import LockedSkill
from skillpm.formats.pin import IndexPin
from skillpm.indexes.client.access import access_to
from skillpm.indexes.client.artifacts import Wrong, check_name, not_as_said, numbered, take_artifact
from skillpm.indexes.client.index import Index, Offering
from skillpm.indexes.client.version_choice import newest
from skillpm.requirements.source import IndexSource
from skillpm.resolver.provider import Offered
from skillpm.settings import Settings
from skillpm.store import Store, StoreDamaged

AT_ONCE = 8
Result = TypeVar("Result")


class Desk:
    """The indexes in the order they are asked, over one web client."""

    def __init__(
        self, settings: Settings, base: str, store: Store, reporter: Reporter, places: Sequence[IndexPlace]
    ) -> None:
        self.settings = settings
        self.base = base
        self.store = store
        self.reporter = reporter
        self._web: Web | None = None
        self._lock = Lock()
        self._looked_at: dict[str, Found] = {}
        self.indexes = [self._opened(place) for place in places]
        self._sites: dict[str, Index] = {}

    def indexes_for(self, source: IndexSource) -> list[Index]:
        """Give the indexes that may be asked for a skill: all, or the one that is named."""
        if source.site:
            return [self.at(source.site)]
        return [index for index in self.indexes if source.index in {"", index.place.name}]

    def at(self, url: str) -> Index:
        """Give the index at an address: the configured one, with its token, else one that nobody gave a name."""
        with self._lock:
            known = next((index for index in self.indexes if index.place.url == url), self._sites.get(url))
            if known is None:
                place = IndexPlace(name=url.partition("://")[2].partition("/")[0], url=url, written_in=url)
                known = self._sites[url] = self._opened(place)
            return known

    def offered(self, wanted: Mapping[SkillName, IndexSource]) -> dict[SkillName, list[Offering] | None]:
        """Ask who knows these names, several at once. No name is ever looked for behind the first that knows it."""

        def ask(name: SkillName) -> list[Offering] | None:
            for index in self.indexes_for(wanted[name]):
                found = index.offerings(SkillName(wanted[name].name))
                if found is not None:
                    return found
            return None

        return self._each(list(wanted), ask)

    def listed(
        self, wanted: Mapping[SkillName, IndexSource], offered: Mapping[SkillName, Sequence[Offering] | None]
    ) -> dict[SkillName, list[Offered]]:
        """Give what is offered as a resolver asks for it. A site's one version is looked at for its number."""

        def one(name: SkillName) -> list[Offered]:
            source = wanted[name].but(version=ANY)
            offerings = offered[name] or ()
            if len(offerings) == 1 and not offerings[0].version:
                found = self.take({name: source}, offered)[name]
                return [Offered(version=found.version, source=source, dependencies=found.dependencies)]
            return [
                Offered(
                    version=item.version,
                    source=source.but(version=f"=={item.version}"),
                    dependencies=item.dependencies,
                    yanked=item.yanked,
                    reason=item.reason,
                    published=item.published,
                    pin=IndexPin(index=item.index.url, url=item.url, sha256=item.sha256),
                    digest=Digest(item.digest),
                )
                for item in offerings
            ]

        return self._each([name for name in wanted if offered[name] is not None], one)

    def knows(self, name: SkillName, source: IndexSource, cutoff: Cutoff) -> str | None:
        """Give the newest version in a range, empty for one without a number; None where no index knows the name."""
        offered = self.offered({name: source})[name]
        return None if offered is None else newest(name, source, offered, cutoff).version

    def take(
        self, wanted: Mapping[SkillName, IndexSource], offered: Mapping[SkillName, Sequence[Offering] | None]
    ) -> dict[SkillName, Found]:
        """Bring the newest of each into the store, and give what a lockfile says of it."""

        def one(name: SkillName) -> Found:
            offering = newest(name, wanted[name], offered[name] or ())
            if not offering.version and offering.url in self._looked_at:
                return numbered(name, wanted[name], offering, self._looked_at[offering.url], self.reporter.warning)
            sha256, tree = self._stored(offering) or self._fetched(
                offering, wanted[name].name, lambda found: not_as_said(name, offering, found)
            )
            pin = IndexPin(index=offering.index.url, url=offering.url, sha256=sha256)
            found = described(tree, pin, name)
            check_name(found.declared, wanted[name].name, offering)
            if offering.digest and tree.digest != offering.digest:
                raise not_as_said(name, offering, tree.digest)
            self._looked_at[offering.url] = found
            found = numbered(name, wanted[name], offering, found, self.reporter.warning)
            self.store.keep(tree, variant_of(pin))
            return found

        return self._each(list(wanted), one)

    def fetch(self, locked: Mapping[SkillName, LockedSkill]) -> None:
        """Bring exactly the locked bytes into the store. Raises `DigestMismatch` for others."""

        def one(name: SkillName) -> Digest:
            skill = locked[name]
            if not isinstance(skill.pin, IndexPin):
                raise TypeError("only pins of an index come here")
            index = self._index_of(name, skill.pin)
            came_from = f"{skill.pin.url} (index {index.place.name})"
            pin = skill.pin

            def wrong(found: str, locked: str = pin.sha256) -> DigestMismatch:
                error = DigestMismatch(name, locked=locked, found=found, came_from=came_from)
                error.hint = "nothing was changed; what is published must never change: ask whoever keeps the index"
                return error

            # The lock is what is trusted here: the index is not asked what the sum should be.
            offering = Offering(index=index.place, url=_allowed(index, skill.pin, name), sha256=skill.pin.sha256)
            tree = self._fetched(offering, name, wrong)[1]
            if tree.digest != skill.digest:
                raise wrong(tree.digest, skill.digest or "")
            return self.store.keep(tree, variant_of(skill.pin))

        self._each(list(locked), one)

    def _stored(self, offering: Offering) -> tuple[str, Tree] | None:
        """Give what the store has already of a version; a damaged copy is none."""
        if not offering.digest or not self.store.has(Digest(offering.digest), offering.sha256):
            return None
        try:
            tree = self.store.read(Digest(offering.digest), offering.sha256)
        except StoreDamaged:
            return None
        return None if tree is None else (offering.sha256, tree)

    def _fetched(self, offering: Offering, name: str, wrong: Wrong) -> tuple[str, Tree]:
        index = self.at(offering.index.url)
        what = f"fetching {show(offering.url)}"
        self.reporter.started(what)
        try:
            return take_artifact(index, offering, name, self.settings.limits, wrong)
        finally:
            self.reporter.finished(what)

    def _index_of(self, name: SkillName, pin: IndexPin) -> Index:
        for index in self.indexes:
            if index.place.url == pin.index:
                return index
        if "://" in pin.index:
            return self.at(pin.index)  # that the manifest or a skill names it was looked at before
        raise NotFoundError(
            f"`{name}` is locked to the index {show(pin.index)}, which nobody configured",
            hint=NAME_IT,
        )

    def _opened(self, place: IndexPlace) -> Index:
        access = access_to(place, self.settings, self.base, self._client, self.reporter.warning)
        return Index(place, access, self.reporter.warning)

    def _client(self) -> Web:
        with self._lock:
            if self._web is None:
                self._web = Web(self.settings, self.reporter.note)
            return self._web

    def _each(self, names: Sequence[SkillName], work: Callable[[SkillName], Result]) -> dict[SkillName, Result]:
        """Do the work for each name, several at once; the first failure ends all."""
        if len(names) < 2:  # noqa: PLR2004  (nothing to share out)
            return {name: work(name) for name in names}
        with ThreadPoolExecutor(AT_ONCE) as pool:
            jobs = {name: pool.submit(work, name) for name in names}
            try:
                return {name: job.result() for name, job in jobs.items()}
            except BaseException:
                if self._web is not None:
                    self._web.stopped.set()
                pool.shutdown(cancel_futures=True)
                raise


def _allowed(index: Index, pin: IndexPin, name: SkillName) -> str:
    """Give where a locked archive is: below its index, or where the index itself says that it is.

    Raises `RefusedError` for any other place: a lockfile brings nothing in from where the index does not lead.
    """
    if "://" not in pin.url:
        if not index.place.is_local:
            raise RefusedError(f"the index {pin.index} cannot lead to {show(pin.url)}, on this machine")
        return pin.url  # and the folder looks whether it lies in it
    url = index.access.lead(index.place.url, pin.url)
    if url.startswith(index.place.url) and ".." not in url:
        return url
    if any(item.url == url and item.sha256 in {"", pin.sha256} for item in index.offerings(name) or ()):
        return url
    raise RefusedError(
        f"`{name}` is locked to {show(url)}, and the index {index.place.name} says nothing of that",
        where=f"skills.lock: skills.{name}.source.url",
        hint=f"find out who changed the lockfile; if the index has moved its archives: skillpm update {name}",
    )
