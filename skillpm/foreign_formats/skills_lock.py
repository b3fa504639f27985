"""`skills-lock.json` of `skills-lock`, the only foreign lockfile with commit, path and hash."""

from skillpm.core.json_text.decoder import JsonNode
from skillpm.core.names import SkillName
from skillpm.foreign_formats.base import (
    ForeignDocument,
    ImportedSkill,
    SkippedSkill,
    check_version,
    make_git_source,
    optional_text,
    read_commit,
    read_entries,
    read_folder,
)
from skillpm.kinds.local import PathSource


def read_skills_lock(top: JsonNode) -> ForeignDocument:
    """Parse the lockfile. The `package.json` beside it has no information that is not here, too."""
    check_version(top.require("lockfileVersion"), "skills-lock", 1)
    imported, skipped = read_entries(top.require("skills").items(), _read_skill)
    return ForeignDocument(tool="skills-lock", file=top.file, imported=imported, skipped=skipped)


def _read_skill(name: SkillName, node: JsonNode) -> ImportedSkill | SkippedSkill:
    spec = node.require("spec")
    path = read_folder(node.get("path"))
    if spec.text().startswith("file:"):
        folder = spec.text().removeprefix("file:")
        inner = "" if path in {"", "."} else f"/{path}"
        return ImportedSkill(name=name, source=PathSource(path=spec.with_value(folder + inner).path()))
    ref = optional_text(node, "ref")
    source = make_git_source(node.require("resolved"), path, ref, skill="" if path else name)
    return ImportedSkill(name=name, source=source, commit=read_commit(node.require("commit")))
