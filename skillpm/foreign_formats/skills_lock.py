"""`skills-lock.json` of `skills-lock`, the only foreign lockfile with commit, path and hash."""

from skillpm.core.decoder import JsonNode
from skillpm.core.names import SkillName
from skillpm.errors import DocumentError
from skillpm.foreign_formats.base import (
    ForeignDocument,
    ImportedSkill,
    SkippedSkill,
    make_git_source,
    read_commit,
    read_entries,
    read_folder,
)
from skillpm.requirements.source import PathSource

MAX_VERSION = 1


def read_skills_lock(top: JsonNode) -> ForeignDocument:
    """Parse the lockfile. The `package.json` beside it has no information that is not here, too."""
    version = top.require("lockfileVersion").number()
    if version > MAX_VERSION:
        raise DocumentError(f"unsupported format {version} of skills-lock (up to {MAX_VERSION})", where=top.file)
    imported, skipped = read_entries(top.require("skills").items(), _read_skill)
    return ForeignDocument(tool="skills-lock", file=top.file, imported=imported, skipped=skipped)


def _read_skill(name: SkillName, node: JsonNode) -> ImportedSkill | SkippedSkill:
    spec = node.require("spec")
    path = read_folder(node.get("path"))
    if spec.text().startswith("file:"):
        folder = spec.text().removeprefix("file:")
        inner = "" if path in {"", "."} else f"/{path}"
        return ImportedSkill(name=name, source=PathSource(path=JsonNode(folder + inner, spec.file, spec.keys).path()))
    ref_node = node.get("ref")
    ref = "" if ref_node is None or ref_node.value is None else ref_node.text()
    source = make_git_source(node.require("resolved"), path, ref, skill="" if path else name)
    return ImportedSkill(name=name, source=source, commit=read_commit(node.require("commit")))
