"""spm's manifest `skills.json` and lockfile `skills-lock.yaml`."""

from skillpm.core.json_text.decoder import JsonNode
from skillpm.core.names import SkillName
from skillpm.errors import UsageError
from skillpm.foreign_formats.base import (
    ForeignDocument,
    ImportedSkill,
    SkippedSkill,
    make_git_source,
    read_commit,
    read_entries,
    read_folder,
)
from skillpm.kinds.archive import UrlSource
from skillpm.kinds.base import Source
from skillpm.kinds.local import PathSource
from skillpm.requirements.specifier import parse_specifier

OWN_KEYS = frozenset(["installDir", "linkTargets", "patchedSkills"])


def read_spm(manifest: JsonNode | None, lock: JsonNode | None, file: str) -> ForeignDocument:
    """Parse both files, or the one that exists. Of skills in both, the locked version is used."""
    locked = dict(lock.require("skills").items()) if lock is not None else {}
    required = dict(manifest.require("skills").items()) if manifest is not None else {}
    patches = manifest.get("patchedSkills") if manifest is not None else None
    patched = {} if patches is None else {key: node.text() for key, node in patches.items()}

    def read(name: SkillName, node: JsonNode) -> ImportedSkill | SkippedSkill:
        skill = _read_locked(name, locked[name]) if name in locked else _read_manifest_entry(name, node)
        if isinstance(skill, ImportedSkill) and name in patched:
            return skill.replace(notes=(f"its patch {patched[name]} is not imported: apply it after installing",))
        return skill

    imported, skipped = read_entries(iter((locked | required).items()), read)
    return ForeignDocument(tool="spm", file=file, imported=imported, skipped=skipped)


def _read_locked(name: SkillName, node: JsonNode) -> ImportedSkill | SkippedSkill:
    resolution = node.require("resolution")
    kind = resolution.require("type").text()
    match kind:
        case "git":
            specifier = node.require("specifier")
            path = read_folder(resolution.get("path"))
            source = make_git_source(
                resolution.require("url"), path, _ref_of(specifier.text()), skill="" if path else name
            )
            return ImportedSkill(name=name, source=source, commit=read_commit(resolution.require("commit")))
        case "link":
            return ImportedSkill(name=name, source=PathSource(path=resolution.require("path").path(), link=True))
        case "file":
            return ImportedSkill(name=name, source=UrlSource(url=resolution.require("tarball").path()))
        case _:
            return SkippedSkill(name=name, reason=_unsupported_source_message(kind, node.text_or("specifier")))


def _read_manifest_entry(name: SkillName, node: JsonNode) -> ImportedSkill | SkippedSkill:
    spec = node.text()
    if spec.startswith("file:"):
        return ImportedSkill(name=name, source=UrlSource(url=node.with_value(spec.removeprefix("file:")).path()))
    if spec.startswith(("npm:", "workspace:")):
        return SkippedSkill(name=name, reason=_unsupported_source_message(spec.partition(":")[0], spec))
    source: Source = parse_specifier(spec).source
    if isinstance(source, UrlSource | PathSource) or "/" in spec:
        return ImportedSkill(name=name, source=source, notes=("spm had not locked it",))
    raise UsageError(f"`{spec}` is not a valid source")


def _ref_of(specifier: str) -> str:
    """Return the ref of `URL#ref&path:/folder`; empty if there is none."""
    ref = specifier.partition("#")[2].split("&")[0]
    return "" if ref.startswith("path:") else ref


def _unsupported_source_message(kind: str, spec: str) -> str:
    return f"it comes from `{spec or kind}`, and skillpm does not support {kind} sources"
