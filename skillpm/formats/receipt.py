"""`.skillpm/receipt.json`, the record of what skillpm installed, and so may replace or remove."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NoReturn

from skillpm.core.digest import Digest, compute_digest, is_content_hash
from skillpm.core.json_text.decoder import JsonNode, dump_json, parse_json, read_by_name
from skillpm.core.limits import MAX_LOCKED_SKILLS
from skillpm.core.names import SkillName, path_problem
from skillpm.core.text import HIDDEN
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.errors import DocumentError
from skillpm.formats.legacy_metadata import LegacyMetadata, legacy_metadata_value, read_legacy_metadata
from skillpm.kinds import read_pin
from skillpm.kinds.base import Pin

FORMAT = 1
FILE_KEYS = {"sha256": JsonNode.text, "size": JsonNode.number, "executable": JsonNode.flag, "link": JsonNode.text}
LINK_KINDS = ("symlink", "junction", "copy")


class InstalledFile(Value):
    """One file as it was installed; `link` is its target if it was a link in the source."""

    sha256: str
    size: int
    executable: bool = False
    link: str = ""


class InstalledSkill(Value):
    """One skill as it was installed. A live link has no digest and no files."""

    pin: Pin
    digest: Digest | None
    version: str = ""
    files: Mapping[str, InstalledFile] = EMPTY_MAPPING


class Receipt(Value):
    """Everything that skillpm installed in one scope."""

    skills: Mapping[SkillName, InstalledSkill] = EMPTY_MAPPING
    # By agent folder and skill: the kind of link.
    links: Mapping[str, Mapping[SkillName, str]] = EMPTY_MAPPING
    inherited: Mapping[SkillName, LegacyMetadata] = EMPTY_MAPPING
    # Digests of local skills that are copied, not linked, to agent folders.
    copies: Mapping[SkillName, Digest] = EMPTY_MAPPING
    # Agent folders and their parents that were created for links, and are removed with the last one.
    folders: tuple[str, ...] = ()
    # Skills whose entry was not believed when the receipt was read. Never written.
    disbelieved: tuple[SkillName, ...] = ()

    @property
    def linked_skills(self) -> frozenset[SkillName]:
        """The skills that have a link or a copy in any agent's folder."""
        return frozenset(name for names in self.links.values() for name in names)

    def copy_digest(self, name: SkillName) -> Digest | None:
        """Return the digest of the copy of a skill in an agent's folder when it was made; None if unknown."""
        installed = self.skills.get(name)
        return self.copies.get(name) if installed is None else installed.digest


@lru_cache(maxsize=2)
def read_receipt(text: str, file: str) -> Receipt:
    """Parse a receipt. Raises `DocumentError`, also for an unknown key. Cached as `read_lockfile` is.

    A skill's digest follows from the hashes of its files. An entry in which it does not is left out, as if it had been
    lost: a receipt that came with a checkout must not pass other files off as the locked ones.
    """
    top = parse_json(text, file)
    top.check_format(FORMAT)
    top.check_keys("version", "skills", "links", "inherited", "copies", "folders")
    skills = read_by_name(top.require("skills").check_number(MAX_LOCKED_SKILLS), _read_skill)
    believed = {name: skill for name, skill in skills.items() if _adds_up(skill)}
    return Receipt(
        skills=believed,
        disbelieved=tuple(sorted(skills.keys() - believed.keys())),
        links={_check_folder(folder, node): _read_links(node) for folder, node in top.require("links").items()},
        inherited=read_by_name(top.get("inherited"), read_legacy_metadata),
        copies=read_by_name(top.get("copies"), JsonNode.digest),
        folders=top.texts_or_empty("folders"),
    )


def write_receipt(receipt: Receipt) -> str:
    """Return the text of a receipt."""
    value: dict[str, Any] = {
        "version": FORMAT,
        "skills": {name: _skill_value(receipt.skills[name]) for name in sorted(receipt.skills)},
        "links": {folder: dict(sorted(links.items())) for folder, links in sorted(receipt.links.items()) if links},
    }
    if receipt.inherited:
        value["inherited"] = {
            name: legacy_metadata_value(receipt.inherited[name]) for name in sorted(receipt.inherited)
        }
    if receipt.copies:
        value["copies"] = dict(sorted(receipt.copies.items()))
    if receipt.folders:
        value["folders"] = sorted(receipt.folders)
    return dump_json(value)


def _read_skill(node: JsonNode) -> InstalledSkill:
    node.check_keys("version", "source", "digest", "files")
    digest, pin = node.get("digest"), read_pin(node.require("source"))
    if digest is None and not pin.is_live_link:
        raise DocumentError("`digest` is missing", where=node.where)
    return InstalledSkill(
        pin=pin,
        digest=None if digest is None else digest.digest(),
        version=node.text_or("version"),
        files=_read_files(node.require("files")),
    )


def _adds_up(skill: InstalledSkill) -> bool:
    files = ((path, file.sha256) for path, file in skill.files.items())
    return not skill.files if skill.digest is None else skill.digest == compute_digest(files)


def _read_files(node: JsonNode) -> dict[str, InstalledFile]:
    if not isinstance(node.value, dict):
        node.raise_expected("an object")
    return {path: _read_file(path, value, node) for path, value in node.value.items()}


def _read_file(path: str, value: Any, files: JsonNode) -> InstalledFile:
    if problem := path_problem(path):
        raise DocumentError(f"the path {problem}", where=files.require(path).where)
    if not _is_valid_file(value):
        _raise_invalid_file(files.require(path))
    return InstalledFile(
        sha256=value["sha256"],
        size=value["size"],
        executable=value.get("executable", False),
        link=value.get("link", ""),
    )


def _is_valid_file(value: Any) -> bool:
    """Return whether a file entry is valid, without creating nodes: a receipt may have ten thousand files.

    `_raise_invalid_file` repeats the checks one by one to name the invalid key.
    """
    return (
        isinstance(value, dict)
        and value.keys() <= FILE_KEYS.keys()
        and is_content_hash(value.get("sha256"))
        and type(value.get("size")) is int
        and value["size"] >= 0
        and isinstance(value.get("executable", False), bool)
        and isinstance(value.get("link", ""), str)
    )


def _raise_invalid_file(node: JsonNode) -> NoReturn:
    node.check_keys(*FILE_KEYS)
    node.require("sha256").content_hash()
    if node.require("size").number() < 0:
        node.require("size").raise_expected("a size")
    for key, read in FILE_KEYS.items():
        if (part := node.get(key)) is not None:
            read(part)
    node.raise_expected("a file")


def _check_folder(folder: str, node: JsonNode) -> str:
    """Return the name of an agent folder; whether it is one is checked where it is used (`InstallTarget`)."""
    if not folder or HIDDEN.search(folder):
        node.raise_expected("the links of a folder")
    return folder


def _read_links(node: JsonNode) -> dict[SkillName, str]:
    links = read_by_name(node, JsonNode.text)
    if any(kind not in LINK_KINDS for kind in links.values()):
        node.raise_expected(f"links of kind {', '.join(LINK_KINDS)}")
    return links


def _skill_value(skill: InstalledSkill) -> dict[str, Any]:
    value = {"version": skill.version, "source": skill.pin.to_json(), "digest": skill.digest}
    files = {path: _file_value(skill.files[path]) for path in sorted(skill.files)}
    return {key: part for key, part in value.items() if part} | {"files": files}


def _file_value(file: InstalledFile) -> dict[str, Any]:
    value: dict[str, Any] = {"sha256": file.sha256, "size": file.size}
    if file.executable:
        value["executable"] = True
    if file.link:
        value["link"] = file.link
    return value
