"""The bytes of what an index offers: taken whole, and looked into only where their sum is right."""

from collections.abc import Callable
from urllib.parse import quote

from skillpm.documents.digest import content_hash
from skillpm.documents.gate import checked_tree
from skillpm.documents.index_places import is_local
from skillpm.documents.names import SkillName
from skillpm.documents.text import show
from skillpm.documents.tree import Entry, Limits, Tree
from skillpm.errors import NotFoundError, RefusedError, SkillpmError
from skillpm.fetching.archives.reading import GZIP, ZIP, read_archive
from skillpm.indexes.reading import Index, Offering

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
