"""Fetch skills from OCI registries. Their versions are the tags of a repository."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from skillpm.core.digest import Digest, parse_digest, shorten_distinct_digests
from skillpm.core.exclude_newer import to_utc
from skillpm.core.file_tree import FileTree
from skillpm.core.json_text.decoder import parse_json
from skillpm.core.names import SkillName, choose_install_name
from skillpm.core.suggestions import closest_matches, did_you_mean, list_some
from skillpm.core.text import sanitize
from skillpm.core.tree_checks import check_tree
from skillpm.core.values import Value
from skillpm.core.versions import ANY, filter_versions, parse_version
from skillpm.errors import DigestMismatch, NotFoundError, OfflineError, RefusedError
from skillpm.events import Reporter
from skillpm.fetchers.archives.archive_reader import GZIP_MAGIC, read_archive
from skillpm.fetchers.common.base import AvailableSkill, FetchedSkill
from skillpm.fetchers.common.destinations import Destinations
from skillpm.fetchers.common.metadata import read_metadata
from skillpm.fetchers.http.parallel import run_parallel
from skillpm.fetchers.oci.referrers import read_signatures_beside
from skillpm.fetchers.oci.registry import OciRegistries
from skillpm.formats.lockfile import LockedSkill
from skillpm.formats.oci.manifest import DESCRIPTION_KEYS, HINT, SkillIndex, SkillManifest, find_annotation
from skillpm.formats.oci.signature import read_signatures, signature_tag
from skillpm.kinds.oci import LATEST, OciPin, OciSource, folder_name, tag_version
from skillpm.resolver.provider import AvailableVersion
from skillpm.settings import Settings
from skillpm.store import Proofs, Store, StoreDamaged

PLATFORM = "linux/amd64"  # all platforms have the same skill; this one is always there
Result = TypeVar("Result")


class _Found(Value):
    """The manifest of a skill, and how it was found."""

    pin: OciPin
    manifest: SkillManifest


class OciFetcher:
    """The fetcher for OCI registries."""

    def __init__(
        self,
        settings: Settings,
        store: Store,
        reporter: Reporter,
        destinations: Destinations,
        known_layers: dict[str, Digest],
    ) -> None:
        self.settings = settings
        self.store = store
        self.known_layers = known_layers  # the content digests of layers, as locked or as downloaded
        self.proofs = Proofs(settings.cache_dir)
        self.reporter = reporter
        self.registries = OciRegistries(settings, reporter, destinations)

    def pin(self, sources: Mapping[SkillName, OciSource]) -> dict[SkillName, FetchedSkill]:
        """Fetch the newest version that each source allows, and add its content to the store."""

        def pin_one(name: SkillName) -> FetchedSkill:
            found = self._find(name, sources[name])
            tree = self._read_stored(found.pin) or self._fetch_tree(name, found)
            skill = read_metadata(tree, found.pin, name)
            self.store.add(tree, found.pin.store_variant())
            self.known_layers[found.pin.layer] = tree.digest
            self.registries.keep(found.pin.layer, tree.digest.encode())
            self.proofs.add(name, skill)
            return skill

        return self._run({name: source.repository for name, source in sources.items()}, pin_one)

    def versions(
        self, sources: Mapping[SkillName, OciSource], *, dated: bool = False
    ) -> dict[SkillName, Sequence[AvailableVersion]]:
        """Return the versions that the tags of each repository name; one without a number if there is only `latest`.

        When they were made is only known from their manifests, if their publishers say so.
        """

        def list_one(name: SkillName) -> list[AvailableVersion]:
            source = sources[name]
            versions = _tags_by_version(self.registries.list_tags(source.repository))
            found = [
                AvailableVersion(
                    version=version,
                    source=source.replace(kind="tag", ref=tag),
                    published=self._published(source.repository, tag) if dated else "",
                )
                for version, tag in versions.items()
            ]
            return found or [AvailableVersion(version="", source=source.replace(kind="tag", ref=LATEST))]

        listed: dict[SkillName, Sequence[AvailableVersion]] = {}
        listed.update(self._run({name: source.repository for name, source in sources.items()}, list_one))
        return listed

    def fetch(self, locked: Mapping[SkillName, LockedSkill]) -> list[str]:
        """Fetch the locked skills, each with one manifest and one layer; return what is missing offline."""
        pins = {name: skill.pin for name, skill in locked.items() if isinstance(skill.pin, OciPin)}
        if self.settings.offline:
            return [f"{name} ({pin.describe()})" for name, pin in pins.items()]

        def fetch_one(name: SkillName) -> None:
            pin, digest = pins[name], locked[name].digest or ""
            manifest = self._fetch_locked_manifest(name, pin)
            tree = self._fetch_tree(name, _Found(pin=pin, manifest=manifest))
            if tree.digest != digest:
                raise _mismatch_error(name, digest, tree.digest, pin, "digest")
            self.store.add(tree, pin.store_variant())
            self.proofs.add(name, locked[name])

        self._run({name: pin.repository for name, pin in pins.items()}, fetch_one)
        return []

    def find_tagged_manifests(self, pins: Mapping[SkillName, OciPin]) -> dict[SkillName, str]:
        """Return the digests that the tags of these pins lead to now: the pin's own for the same layer, as also in a
        collection that lists its manifest; empty for a tag that is gone.
        """

        def find_one(name: SkillName) -> str:
            pin = pins[name]
            try:
                digest, document = self.registries.fetch_document(pin.repository, pin.tag)
            except NotFoundError:
                return ""
            if isinstance(document, SkillIndex):
                is_same = pin.manifest in {entry.digest for entry in document.entries}
            else:
                is_same = document.layer.digest == pin.layer
            return pin.manifest if is_same else digest

        return self._run({name: pin.repository for name, pin in pins.items()}, find_one)

    def read_manifests(self, pins: Mapping[SkillName, OciPin]) -> dict[SkillName, SkillManifest]:
        """Return the manifests of pins; those that this command has fetched cost nothing."""
        repositories = {name: pin.repository for name, pin in pins.items()}
        return self._run(repositories, lambda name: self._require_manifest(pins[name].repository, pins[name].manifest))

    def read_cosign_signatures(self, pin: OciPin) -> list[tuple[bytes, bytes]]:
        """Return the cosign signatures of a pin's manifest: payloads and signatures, none of them verified.

        Raises `OfflineError`.
        """
        tag = signature_tag(pin.manifest)
        text = self.registries.find_manifest(pin.repository, tag)
        found = read_signatures(text.decode(errors="replace"), f"oci://{pin.repository}:{tag}") if text else ()
        return [(self.registries.fetch_blob(pin.repository, each.payload), each.signature) for each in found]

    def find_signatures(self, name: SkillName, pin: OciPin) -> list[bytes]:  # noqa: ARG002  (as that of indexes)
        """Return the signatures that are attached to a pin's manifest, none of them verified; offline, as last read."""
        address = f"oci://{pin.repository}@{pin.manifest} (signatures)"
        if self.settings.offline:
            return [text.encode() for text in parse_json(self.registries.recall(address).decode(), address).texts()]
        found = read_signatures_beside(self.registries, pin.repository, pin.manifest)
        self.registries.keep(address, json.dumps([each.decode() for each in found]).encode())
        return found

    def list_available_skills(self, source: OciSource) -> list[AvailableSkill]:
        """List the skill of a repository, or those of a collection."""
        _, document = self._read(source)
        if isinstance(document, SkillIndex) and document.is_collection and not source.skill:
            return [
                AvailableSkill(
                    name=sanitize(entry.name, 80),
                    description=sanitize(find_annotation(entry.annotations, DESCRIPTION_KEYS), 200),
                    source=source.replace(skill=entry.name),
                )
                for entry in sorted(document.entries, key=lambda entry: entry.name)
                if entry.name
            ]
        probe = SkillName(source.skill or folder_name(source.repository))
        declared = self.pin({probe: source})[probe].declared_name
        return [AvailableSkill(name=choose_install_name(declared, probe) or declared, description="", source=source)]

    def _run(self, origins: Mapping[SkillName, str], work: Callable[[SkillName], Result]) -> dict[SkillName, Result]:
        return run_parallel(origins, work, self.registries.http.stop_event.set)

    def _read(self, source: OciSource) -> tuple[str, SkillManifest | SkillIndex]:
        """Return the digest of the manifest or the index that a source means, and its content."""
        reference = source.ref if source.kind in {"tag", "digest"} else self._newest_tag(source)
        return self.registries.fetch_document(source.repository, reference)

    def _newest_tag(self, source: OciSource) -> str:
        """Return the tag of the newest version in the range of a source; without any, the tag `latest`."""
        tags = self.registries.list_tags(source.repository)
        versions = _tags_by_version(tags)
        if matching := filter_versions(source.ref or ANY, versions):
            newest = max((parsed, each) for each in matching if (parsed := parse_version(each)) is not None)[1]
            return versions[newest]
        if not source.kind and LATEST in tags:
            return LATEST
        ranked = sorted((parsed, each) for each in versions if (parsed := parse_version(each)) is not None)
        tags = [*(versions[each] for _, each in reversed(ranked)), *(tag for tag in tags if not tag_version(tag))]
        some = list_some(tags, 5, 40) or "none"
        wanted = f"a version that satisfies {source.ref}" if source.kind else f"a version, or the tag {LATEST}"
        hint = f"choose one of its tags, e.g. oci://{source.repository}:{tags[0]}" if tags else ""
        raise NotFoundError(f"oci://{source.repository} has no tag that is {wanted}; its tags: {some}", hint=hint)

    def _find(self, name: SkillName, source: OciSource) -> _Found:
        """Return the manifest of a source's skill. Raises `NotFoundError` for one that a collection does not have."""
        digest, document = self._read(source)
        tag = source.ref if source.kind == "tag" else "" if source.kind == "digest" else self._newest_tag(source)
        pin = OciPin(repository=source.repository, tag=tag, manifest=digest, layer="")
        if isinstance(document, SkillIndex):
            entry = self._choose_entry(name, source, document)
            # Only then can the digest that was asked for not be that of the skill's own manifest.
            pin = pin.replace(manifest=entry, index=digest if source.kind == "digest" else "")
            document = self._require_manifest(source.repository, entry)
        return _Found(pin=pin.replace(layer=document.layer.digest), manifest=document)

    def _choose_entry(self, name: SkillName, source: OciSource, index: SkillIndex) -> str:
        if not index.is_collection:
            return next((each for each in index.entries if each.platform == PLATFORM), index.entries[0]).digest
        wanted = source.skill or name
        entries = {entry.name: entry.digest for entry in index.entries}
        if wanted not in entries:
            names = sorted(entry for entry in entries if entry)
            hint = did_you_mean(closest_matches(wanted, names)) or f"its skills: {', '.join(names[:5])}"
            raise NotFoundError(f"oci://{source.repository} has no skill `{sanitize(wanted, 80)}`", hint=sanitize(hint))
        return entries[wanted]

    def _require_manifest(self, repository: str, digest: str) -> SkillManifest:
        document = self.registries.fetch_document(repository, digest)[1]
        if not isinstance(document, SkillManifest):
            raise RefusedError(f"oci://{repository}@{digest} is an index, not the manifest of a skill", hint=HINT)
        return document

    def _fetch_locked_manifest(self, name: SkillName, pin: OciPin) -> SkillManifest:
        """Return the manifest that a lockfile names. Raises `DigestMismatch` if its layer is another one."""
        if pin.index:  # what the manifest of the project names is the index: it must list what is locked
            index = self.registries.fetch_document(pin.repository, pin.index)[1]
            if not isinstance(index, SkillIndex) or pin.manifest not in {entry.digest for entry in index.entries}:
                raise RefusedError(
                    f"`{name}` is locked to {pin.describe()}, which the index {pin.index} does not list",
                    where=f"skills.lock: skills.{name}.source.manifest",
                    hint="check who changed skills.lock",
                )
        manifest = self._require_manifest(pin.repository, pin.manifest)
        if manifest.layer.digest != pin.layer:
            raise _mismatch_error(name, pin.layer, manifest.layer.digest, pin, "source.layer")
        return manifest

    def _read_stored(self, pin: OciPin) -> FileTree | None:
        """Return the content of a layer that a lockfile or the cache knows, verified; None if it is not stored."""
        try:
            digest = self.known_layers.get(pin.layer) or self._recall_digest(pin.layer)
        except OfflineError:
            return None
        try:
            return self.store.read(digest, pin.store_variant())
        except StoreDamaged:  # which removed it
            return None

    def _recall_digest(self, layer: str) -> Digest:
        """Return the content digest of a layer that was downloaded before. Raises `OfflineError` if it was not."""
        return parse_digest(self.registries.recall(layer).decode(), where=layer)

    def _fetch_tree(self, name: SkillName, found: _Found) -> FileTree:
        origin, task = found.pin.describe(), f"fetching {found.pin.describe()}"
        self.reporter.start_task(task, [name])
        try:
            data = self.registries.fetch_blob(found.pin.repository, found.manifest.layer)
        finally:
            self.reporter.finish_task(task)
        if not data.startswith(GZIP_MAGIC):
            raise RefusedError(f"{origin}: its layer is not a .tar.gz", hint=HINT)
        limits = self.settings.limits
        return check_tree(read_archive(data, origin, limits), name=name, limits=limits)

    def _published(self, repository: str, tag: str) -> str:
        document = self.registries.fetch_document(repository, tag)[1]
        return to_utc(document.created) if isinstance(document, SkillManifest) else ""


def _tags_by_version(tags: Sequence[str]) -> dict[str, str]:
    """Return the tags that name versions, by version; `1.2.0` wins over `v1.2.0`."""
    return {tag_version(tag): tag for tag in sorted(tags, reverse=True) if tag_version(tag)}


def _mismatch_error(name: str, locked: str, actual: str, pin: OciPin, key: str) -> DigestMismatch:
    shown_locked, shown_actual = shorten_distinct_digests(locked, actual)
    return DigestMismatch(name, locked=shown_locked, actual=shown_actual, origin=pin.describe(), key=key)
