"""The mirrors that replace the origins of locked skills.

A mirror proves nothing of a commit or an index: it is trusted, since the user named it, to have proved that before. The
bytes are checked against the digest in the lockfile, as those of any source.
"""

from collections.abc import Callable, Mapping
from typing import Any

from skillpm.core.digest import shorten_distinct_digests
from skillpm.core.file_tree import FileTree
from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.core.tree_checks import check_tree
from skillpm.errors import DigestMismatch, NotMirroredError, OfflineError, RefusedError
from skillpm.events import Reporter
from skillpm.fetchers.archives.archive_reader import read_archive
from skillpm.fetchers.mirrors.layout import MirrorAddress, Replacement, describe_addresses
from skillpm.formats.lockfile import LockedSkill
from skillpm.settings import Settings
from skillpm.store import Proofs, Store, claim_key

REPAIR_HINT = "nothing was installed; `skillpm mirror` with this mirror repairs it where the origin can be reached"


class Mirrors:
    """The mirrors of a command, in the order of requests."""

    def __init__(self, replacement: Replacement, settings: Settings, store: Store, reporter: Reporter) -> None:
        self.replacement = replacement
        self.settings = settings
        self.store = store
        self.reporter = reporter

    @property
    def allows_origin(self) -> bool:
        """Whether a skill that no mirror has may come from its origin."""
        return self.replacement.allows_origin

    def fetch(self, locked: Mapping[SkillName, LockedSkill]) -> tuple[dict[SkillName, LockedSkill], list[str]]:
        """Add what the mirrors have to the store; return the skills that remain, and what is missing offline.

        Raises `NotMirroredError` for all that is missing and may not come from its origin, and `DigestMismatch` or
        `RefusedError` for other content than was locked: the next mirror is asked for what is missing only.
        """
        own = {name: skill for name, skill in locked.items() if skill.pin.is_remote}
        others = {name: skill for name, skill in locked.items() if name not in own}
        missing = {name: skill for name, skill in own.items() if not self._has(name, skill)}
        unreachable = []
        for address in self.replacement.mirrors:
            if self.settings.offline and not address.is_local:
                unreachable.append(address)
            elif missing:
                found = self._fetch_from(address, missing)
                missing = {name: skill for name, skill in missing.items() if name not in found}
        if self.allows_origin:
            return {**others, **missing}, []
        if missing and not unreachable:
            raise NotMirroredError(
                [f"{name} ({skill.pin.describe()})" for name, skill in sorted(missing.items())],
                describe_addresses(self.replacement.mirrors),
                skills=sorted(missing),
            )
        return others, [f"{name} ({describe_addresses(unreachable)})" for name in missing]

    def explain(self, error: OfflineError) -> NotMirroredError:
        """Return the error for a request that only an origin can answer."""
        return NotMirroredError(error.missing, describe_addresses(self.replacement.mirrors), skills=error.skills)

    def _has(self, name: SkillName, skill: LockedSkill) -> bool:
        """Return whether the store has content from one of the mirrors for this entry of the lockfile."""
        if skill.digest is None or not self.store.has(skill.digest, skill.pin.store_variant()):
            return False
        return any(self._proofs(address).has(name, skill) for address in self.replacement.mirrors)

    def _proofs(self, address: MirrorAddress) -> Proofs:
        return Proofs(self.settings.cache_dir, address.location)

    def _fetch_from(self, address: MirrorAddress, wanted: Mapping[SkillName, LockedSkill]) -> set[SkillName]:
        """Add what a mirror has of these skills to the store; return their names."""
        from skillpm.fetchers.http.parallel import run_parallel  # noqa: PLC0415
        from skillpm.fetchers.mirrors.readers import open_reader  # noqa: PLC0415  (httpx, which a warm store saves)

        reader = open_reader(address, self.settings, self.reporter)

        def fetch_one(name: SkillName) -> bool:
            task = f"fetching {name} from {sanitize(address.text)}"
            self.reporter.start_task(task, [name])
            try:
                data = reader.read(claim_key(name, wanted[name]))
            finally:
                self.reporter.finish_task(task)
            if data is None:
                return False
            tree = read_mirrored(data, name, wanted[name], address, self.settings)
            self.store.add(tree, wanted[name].pin.store_variant())
            self._proofs(address).add(name, wanted[name])
            return True

        done = run_parallel(dict.fromkeys(wanted, address.location), fetch_one, reader.interrupt)
        return {name for name, is_found in done.items() if is_found}


def read_mirrored(data: bytes, name: str, skill: LockedSkill, address: MirrorAddress, settings: Settings) -> FileTree:
    """Return the content of an archive of a mirror, checked as that of any source.

    Raises `RefusedError` for a damaged archive, and `DigestMismatch` for other content than was locked.
    """
    try:
        entries = read_archive(data, f"`{name}` in the mirror {address.text}", settings.limits)
        tree = check_tree(entries, name=name, limits=settings.limits)
    except RefusedError as error:
        error.hint, error.skills = REPAIR_HINT, (name,)
        raise
    if tree.digest != skill.digest:
        locked, actual = shorten_distinct_digests(skill.digest or "", tree.digest)
        mismatch = DigestMismatch(
            name, locked=locked, actual=actual, origin=f"the mirror {sanitize(address.text)}", advice=""
        )
        mismatch.hint = REPAIR_HINT
        raise mismatch
    return tree


class ReplacedFetcher:
    """A fetcher without network, since mirrors replace its origin. Its errors name the mirrors."""

    def __init__(self, fetcher: Any, mirrors: Mirrors) -> None:
        self._fetcher = fetcher
        self._mirrors = mirrors

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Return a method of the fetcher."""
        method = getattr(self._fetcher, name)

        def call(*arguments: Any, **options: Any) -> Any:
            try:
                found = method(*arguments, **options)
            except OfflineError as error:
                raise self._mirrors.explain(error) from None
            if not isinstance(found, dict):
                return found
            # A listing of several repositories has an error in place of what could not be listed.
            return {key: self._mirrors.explain(it) if isinstance(it, OfflineError) else it for key, it in found.items()}

        return call
