"""Find and read the lockfiles and manifests of other tools."""

import os
from collections.abc import Iterator

from skillpm.agent_hosts.known_agents import load_agents
from skillpm.core.json_text.decoder import JsonNode, parse_json
from skillpm.core.names import SKILL_FILE, SKILL_FILES, is_skill_name, parse_skill_name
from skillpm.core.text import sanitize
from skillpm.core.values import Value
from skillpm.errors import DocumentError, NotFoundError, SkillpmError
from skillpm.files import read_text
from skillpm.foreign_formats.base import ForeignDocument, ImportedSkill, SkippedSkill
from skillpm.foreign_formats.claude_marketplace import read_marketplace
from skillpm.foreign_formats.gh import is_from_gh, read_gh
from skillpm.foreign_formats.skills_lock import read_skills_lock
from skillpm.foreign_formats.spm import OWN_KEYS, read_spm
from skillpm.foreign_formats.vercel import MAX_VERSIONS, read_vercel
from skillpm.formats.manifest import document_kind
from skillpm.installer.disk.skill_file import read_skill_file
from skillpm.scope.project import Session
from skillpm.skillmd.findings import Finding, NotLoadable
from skillpm.skillmd.skill import read_skill
from skillpm.skillmd.yaml_loader import YamlError, read_yaml

PROJECT_LOCK, GLOBAL_LOCK = MAX_VERSIONS
SPM_MANIFEST, SPM_LOCK, SPM_BACKUP = "skills.json", "skills-lock.yaml", "skills.spm.json"
MARKETPLACE = "marketplace.json"
MARKETPLACE_FOLDERS = (".claude-plugin", os.path.join(".github", "plugin"), os.path.join(".agents", "plugins"))
SUPPORTED_FILES = (
    f"{PROJECT_LOCK}, {GLOBAL_LOCK}, {SPM_MANIFEST} and {SPM_LOCK} of spm, .claude-plugin/{MARKETPLACE}, "
    "and skills that gh installed"
)


class DetectedTools(Value):
    """The documents of other tools in a folder."""

    folder: str
    documents: tuple[ForeignDocument, ...]  # in order of precedence
    is_global: bool = False


def detect_tools(session: Session, path: str) -> DetectedTools:
    """Read a file, or all supported files in a folder.

    Raises `NotFoundError` if there are none, `DocumentError` for a file that cannot be read.
    """
    full_path = os.path.normpath(os.path.join(session.settings.working_directory, os.path.expanduser(path)))
    if os.path.isdir(full_path):
        detected = _detect_in_folder(session, full_path)
        if not detected.documents:
            folder = "this folder" if path == "." else sanitize(path)
            raise NotFoundError(f"{folder} contains no files of another tool", hint=f"looked for {SUPPORTED_FILES}")
        return detected
    if not os.path.lexists(full_path):
        raise NotFoundError(
            f"{sanitize(path)} does not exist", hint=f"name a file or a folder with one of {SUPPORTED_FILES}"
        )
    return _read_file(full_path)


def _detect_in_folder(session: Session, folder: str) -> DetectedTools:
    home, state = session.settings.home, session.settings.environ.get("XDG_STATE_HOME")
    is_home = os.path.realpath(folder) == os.path.realpath(home)
    if is_home:
        paths = [os.path.join(state, "skills", GLOBAL_LOCK) if state else os.path.join(home, ".agents", GLOBAL_LOCK)]
    else:
        marketplaces = [os.path.join(inner, MARKETPLACE) for inner in MARKETPLACE_FOLDERS]
        spm = [SPM_MANIFEST] if is_spm_manifest(os.path.join(folder, SPM_MANIFEST)) else [SPM_BACKUP, SPM_LOCK]
        spm = [name for name in spm if os.path.isfile(os.path.join(folder, name))][:1]  # one stands for all of spm's
        paths = [os.path.join(folder, name) for name in (PROJECT_LOCK, GLOBAL_LOCK, *spm, *marketplaces)]
    documents = [document for path in paths if os.path.isfile(path) for document in _read_file(path).documents]
    if gh := _read_gh_skills(folder, is_home=is_home):
        documents.append(gh)
    return DetectedTools(folder=folder, documents=tuple(documents), is_global=is_home)


def _read_file(path: str) -> DetectedTools:
    """Read one file; its name identifies the tool or, if two tools share a name, its content."""
    folder, name = os.path.split(path)
    if name in {SPM_LOCK, SPM_BACKUP} or (name == SPM_MANIFEST and is_spm_manifest(path)):
        return DetectedTools(folder=folder, documents=(_read_spm_folder(folder),))
    if name in SKILL_FILES:
        document = _make_gh_document([os.path.dirname(path)], path)
        return DetectedTools(folder=os.path.dirname(folder), documents=(document,))
    text = read_text(path)
    if text is None:
        raise NotFoundError(f"{sanitize(path)} is not a file")
    top = parse_json(text, path)
    if not isinstance(top.value, dict):
        top.raise_expected("an object")
    if name == GLOBAL_LOCK or ("version" in top.value and "lastSelectedAgents" in top.value):
        return DetectedTools(folder=folder, documents=(read_vercel(top, GLOBAL_LOCK),), is_global=True)
    if "lockfileVersion" in top.value:
        return DetectedTools(folder=folder, documents=(read_skills_lock(top),))
    if "plugins" in top.value:
        above = os.path.dirname(folder)
        root = above if os.path.basename(folder) == ".claude-plugin" else folder
        root = os.path.dirname(above) if os.path.basename(folder) in {"plugin", "plugins"} else root
        return DetectedTools(folder=root, documents=(read_marketplace(top),))
    if "version" in top.value and isinstance(top.value.get("skills"), dict):
        return DetectedTools(folder=folder, documents=(read_vercel(top, PROJECT_LOCK),))
    raise DocumentError("not a file of a supported tool", where=path, hint=f"supported: {SUPPORTED_FILES}")


def is_spm_manifest(path: str) -> bool:
    """Return whether a `skills.json` is spm's: only keys of its own distinguish it from skillpm's manifest."""
    text = read_text(path)
    try:
        top = parse_json(text or "", path)
    except DocumentError:
        return False
    return isinstance(top.value, dict) and not OWN_KEYS.isdisjoint(top.value) and document_kind(top) == "foreign"


def _read_spm_folder(folder: str) -> ForeignDocument:
    manifest = os.path.join(folder, SPM_MANIFEST)
    if not is_spm_manifest(manifest):
        manifest = os.path.join(folder, SPM_BACKUP)
    manifest_text, lock_text = read_text(manifest), read_text(os.path.join(folder, SPM_LOCK))
    top = None if manifest_text is None else parse_json(manifest_text, manifest)
    lock = None if lock_text is None else _parse_yaml(lock_text, os.path.join(folder, SPM_LOCK))
    return read_spm(top, lock, os.path.join(folder, SPM_LOCK) if top is None else manifest)


def _parse_yaml(text: str, path: str) -> JsonNode:
    findings: list[Finding] = []
    try:
        return JsonNode(read_yaml(text, findings), path)
    except YamlError as error:
        raise DocumentError(f"invalid YAML: {error.message}", where=f"{path}:{error.line}") from None


def _read_gh_skills(folder: str, *, is_home: bool) -> ForeignDocument | None:
    """Find skills that gh installed, in this folder and in all folders in which hosts look for skills."""
    roots = {agent.project_dir for agent in load_agents().values() if agent.project_dir}
    if is_home:
        homes = {agent.user_dir for agent in load_agents().values() if agent.user_dir}
        roots = {template[2:] for template in homes if template.startswith("~/")}
    parents = [os.path.join(folder, root) for root in sorted(roots)] + ([] if is_home else [folder])
    skills = [skill for parent in parents for skill in _find_skill_folders(parent)]
    document = _make_gh_document(skills, folder)
    return document if document.imported or document.skipped else None


def _find_skill_folders(folder: str) -> Iterator[str]:
    if os.path.isdir(folder) and os.path.basename(folder) != ".agent-skills":
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name)
            if is_skill_name(name) and any(os.path.isfile(os.path.join(path, file)) for file in SKILL_FILES):
                yield path


def _make_gh_document(folders: list[str], where: str) -> ForeignDocument:
    imported: dict[str, ImportedSkill] = {}
    skipped: list[SkippedSkill] = []
    for folder in folders:
        name = os.path.basename(folder)
        try:
            metadata, file = read_skill(read_skill_file(folder)).metadata, os.path.join(folder, SKILL_FILE)
            skill = read_gh(parse_skill_name(name), metadata, file) if is_from_gh(metadata) else None
        except (NotLoadable, OSError):
            continue
        except SkillpmError as error:
            skill = SkippedSkill(name=sanitize(name), reason=error.message, where=error.where)
        if isinstance(skill, SkippedSkill):
            skipped.append(skill)
        elif skill is not None:
            imported.setdefault(name, skill)
    return ForeignDocument(tool="gh skill", file=where, imported=tuple(imported.values()), skipped=tuple(skipped))
