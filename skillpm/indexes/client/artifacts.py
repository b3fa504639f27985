"""The bytes of what an index offers: taken whole, and looked into only where their sum is right."""

from collections.abc import Callable
from urllib.parse import quote

from skillpm.core.digest import content_hash
from skillpm.core.file_tree import Entry, Limits, Tree
from skillpm.core.names import SkillName
from skillpm.core.text import show
from skillpm.core.tree_checks import checked_tree
from skillpm.core.versions import ANY, is_version, matches
from skillpm.errors import NotFoundError, RefusedError, SkillpmError
from skillpm.fetchers.archives.archive_reader import GZIP, ZIP, read_archive
from skillpm.fetchers.base import Found
from skillpm.formats.index_sources import is_local
from skillpm.indexes.client.index import Index, Offering
from skillpm.requirements.declared_dependencies import told_otherwise
from skillpm.requirements.source import IndexSource

Wrong = Callable[[str], SkillpmError]


def take_artifact(index: Index, offering: Offering, name: str, limits: Limits, wrong: Wrong) -> tuple[str, Tree]:
    """Give the SHA-256 of what an offering is, and its tree. The sum is checked before anything looks inside: other
    bytes are the error that `wrong` makes of what they are.
    """
    if offering.url.endswith("/"):
        tree = _folder(index, offering, name, limits)
        return _checked(tree.digest.removeprefix("sha256:"), offering, wrong), tree
    try:
        data = index.access.archive(offering.url, limits.download)
    except NotFoundError as error:
        raise NotFoundError(
            f"the index {index.place.name} names an archive of `{name}` that is not there: {error.message}",
            where=error.where,
            hint="tell whoever keeps the index; nothing was changed",
        ) from None
    return open_artifact(offering, data, name, limits, wrong)


def open_artifact(offering: Offering, data: bytes, name: str, limits: Limits, wrong: Wrong) -> tuple[str, Tree]:
    """Look inside the bytes of an artifact, when their sum is right."""
    return _checked(content_hash(data), offering, wrong), _tree(offering, data, name, limits)


def _folder(index: Index, offering: Offering, name: str, limits: Limits) -> Tree:
    """Take the files of a skill one by one (v0.1.0); what they were is told by the digest of them all."""
    files = offering.files
    if not files:
        listed = index.offerings(SkillName(name))
        files = listed[0].files if listed and listed[0].url == offering.url else ()
    entries, room = [], limits.skill
    if len(files) > limits.files:
        raise RefusedError(f"skill {name}: it has more than {limits.files} files (SKILLPM_MAX_FILES)")
    for path in files:
        address = offering.url + (path if is_local(offering.url) else quote(path))
        data = index.access.archive(address, min(limits.file, room))
        room -= len(data)
        entries.append(Entry(path=path, data=data))
    return checked_tree(entries, name=name, limits=limits)


def _checked(found: str, offering: Offering, wrong: Wrong) -> str:
    if offering.sha256 and found != offering.sha256:
        raise wrong(found)
    return found


def _tree(offering: Offering, data: bytes, name: str, limits: Limits) -> Tree:
    """Read an artifact as what the index says that it is; a lock says nothing, and then its bytes do."""
    is_archive = data.startswith((GZIP, *ZIP))
    if offering.kind and is_archive != (offering.kind == "archive"):
        what = "an archive" if is_archive else "no archive"
        said = "an archive" if offering.kind == "archive" else "a SKILL.md"
        raise RefusedError(f"`{name}`: {show(offering.url)} is {what}, and the index says {said}")
    if not is_archive:
        return checked_tree([Entry(path="SKILL.md", data=data)], name=name, limits=limits)
    return checked_tree(read_archive(data, offering.url, limits), name=name, limits=limits)


def not_as_said(name: str, offering: Offering, found: str) -> RefusedError:
    """Tell what came and what the index says of it: of the bytes, or of the content."""
    said = offering.digest if found.startswith("sha256:") else offering.sha256
    return RefusedError(
        f"`{name}` is not what the index {offering.index.name} says: "
        f"{show(offering.url)} is {found}, and the index says {said}",
        hint="somebody changed the archive or the index; nothing was changed here",
    )


def check_name(declared: str, name: str, offering: Offering) -> None:
    """Raise `RefusedError` for a skill that calls itself otherwise than its index does."""
    if declared and declared != name:
        raise RefusedError(
            f"the index {offering.index.name} offers {show(offering.url)} as `{name}`, "
            f"and the skill calls itself `{show(declared, 80)}`",
            hint="tell whoever keeps the index; nothing was installed",
        )


def numbered(
    name: SkillName, source: IndexSource, offering: Offering, found: Found, warn: Callable[[str], None]
) -> Found:
    """Give a skill the version that its index says; a site says none.

    Raises `RefusedError` where the index has said other needs than the skill does: it was chosen by these.
    """
    if offering.version:
        if found.version and found.version.removeprefix("v") != offering.version:
            warn(f"{name}: the index says version {offering.version}, SKILL.md says {show(found.version)}")
        said = found.dependencies if offering.dependencies is None else offering.dependencies
        if told := told_otherwise(said, found.dependencies):
            raise RefusedError(
                f"the index {offering.index.name} says other needs of `{name}` {offering.version} than the skill "
                f"does: {told}",
                hint="tell whoever keeps the index; nothing was changed",
            )
        return found.but(version=offering.version)
    if source.version.strip() != ANY and not (is_version(found.version) and matches(source.version, found.version)):
        says = f"says that it is {show(found.version)}" if found.version else "says no version"
        raise NotFoundError(
            f"the index {offering.index.name} has no `{name}` {source.version}: the only one {says}",
            hint="ask for any version",
        )
    return found
