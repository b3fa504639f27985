"""`skills-lock.json` of `skills-lock`: the only foreign lock that holds commit, path and sum."""

from skillpm.core.decoder import Node
from skillpm.core.names import SkillName
from skillpm.errors import DocumentError
from skillpm.foreign_formats.base import Left, Reading, Taken, commit_of, each, folder_of, git_source
from skillpm.requirements.source import PathSource

NEWEST = 1


def read_skills_lock(top: Node) -> Reading:
    """Read the lock. `package.json` beside it says nothing that is not here too."""
    version = top.need("lockfileVersion").number()
    if version > NEWEST:
        raise DocumentError(f"this is format {version} of skills-lock; up to {NEWEST} is known", where=top.file)
    taken, left = each(top.need("skills").items(), _read)
    return Reading(tool="skills-lock", file=top.file, taken=taken, left=left)


def _read(name: SkillName, node: Node) -> Taken | Left:
    spec = node.need("spec")
    path = folder_of(node.get("path"))
    if spec.text().startswith("file:"):
        folder = spec.text().removeprefix("file:")
        inner = "" if path in {"", "."} else f"/{path}"
        return Taken(name=name, source=PathSource(path=Node(folder + inner, spec.file, spec.keys).path()))
    ref = node.get("ref")
    said = "" if ref is None or ref.value is None else ref.text()
    source = git_source(node.need("resolved"), path, said, skill="" if path else name)
    return Taken(name=name, source=source, commit=commit_of(node.need("commit")))
