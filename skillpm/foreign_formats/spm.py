"""spm's two files: `skills.json`, which says what is wanted, and `skills-lock.yaml`, which says what that was."""

from skillpm.core.decoder import Node
from skillpm.core.names import SkillName
from skillpm.errors import UsageError
from skillpm.foreign_formats.base import Left, Reading, Taken, commit_of, each, folder_of, git_source
from skillpm.requirements.source import PathSource, Source, UrlSource
from skillpm.requirements.specifier import parse_specifier

OWN_KEYS = frozenset(["installDir", "linkTargets", "patchedSkills"])


def read_spm(manifest: Node | None, lock: Node | None, file: str) -> Reading:
    """Read both, or the one that is there. What is locked counts; what is only wanted is taken as it is asked for."""
    locked = dict(lock.need("skills").items()) if lock is not None else {}
    wanted = dict(manifest.need("skills").items()) if manifest is not None else {}
    patches = manifest.get("patchedSkills") if manifest is not None else None
    patched = {} if patches is None else {key: node.text() for key, node in patches.items()}

    def read(name: SkillName, node: Node) -> Taken | Left:
        found = _locked(name, locked[name]) if name in locked else _wanted(name, node)
        if isinstance(found, Taken) and name in patched:
            return found.but(notes=(f"its patch {patched[name]} is not taken over: apply it to what was installed",))
        return found

    taken, left = each(iter((locked | wanted).items()), read)
    return Reading(tool="spm", file=file, taken=taken, left=left)


def _locked(name: SkillName, node: Node) -> Taken | Left:
    resolution = node.need("resolution")
    kind = resolution.need("type").text()
    match kind:
        case "git":
            specifier = node.need("specifier")
            path = folder_of(resolution.get("path"))
            source = git_source(resolution.need("url"), path, _ref_in(specifier.text()), skill="" if path else name)
            return Taken(name=name, source=source, commit=commit_of(resolution.need("commit")))
        case "link":
            return Taken(name=name, source=PathSource(path=resolution.need("path").path(), link=True))
        case "file":
            return Taken(name=name, source=UrlSource(url=resolution.need("tarball").path()))
        case _:
            return Left(name=name, why=_elsewhere(kind, node.text_or("specifier")))


def _wanted(name: SkillName, node: Node) -> Taken | Left:
    spec = node.text()
    if spec.startswith("file:"):
        return Taken(name=name, source=UrlSource(url=Node(spec.removeprefix("file:"), node.file, node.keys).path()))
    if spec.startswith(("npm:", "workspace:")):
        return Left(name=name, why=_elsewhere(spec.partition(":")[0], spec))
    source: Source = parse_specifier(spec).source
    if isinstance(source, UrlSource | PathSource) or "/" in spec:
        return Taken(name=name, source=source, notes=("spm had not locked it",))
    raise UsageError(f"`{spec}` is no source")


def _ref_in(specifier: str) -> str:
    """Give the ref of `URL#ref&path:/folder`."""
    ref = specifier.partition("#")[2].split("&")[0]
    return "" if ref.startswith("path:") else ref


def _elsewhere(kind: str, spec: str) -> str:
    return f"it comes from `{spec or kind}`, and skillpm has no {kind} source"
