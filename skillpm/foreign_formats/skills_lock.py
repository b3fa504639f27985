"""`skills-lock.json` of `skills-lock`: the only foreign lock that holds commit, path and sum."""

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
    """Read the lock. `package.json` beside it says nothing that is not here too."""
    version = top.require("lockfileVersion").number()
    if version > MAX_VERSION:
        raise DocumentError(f"this is format {version} of skills-lock; up to {MAX_VERSION} is known", where=top.file)
    taken, left = read_entries(top.require("skills").items(), _read_skill)
    return ForeignDocument(tool="skills-lock", file=top.file, imported=taken, skipped=left)


def _read_skill(name: SkillName, node: JsonNode) -> ImportedSkill | SkippedSkill:
    spec = node.require("spec")
    path = read_folder(node.get("path"))
    if spec.text().startswith("file:"):
        folder = spec.text().removeprefix("file:")
        inner = "" if path in {"", "."} else f"/{path}"
        return ImportedSkill(name=name, source=PathSource(path=JsonNode(folder + inner, spec.file, spec.keys).path()))
    ref = node.get("ref")
    said = "" if ref is None or ref.value is None else ref.text()
    source = make_git_source(node.require("resolved"), path, said, skill="" if path else name)
    return ImportedSkill(name=name, source=source, commit=read_commit(node.require("commit")))
