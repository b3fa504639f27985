"""Find and read what other tools have written down in a folder."""

import os
from collections.abc import Iterator

from skillpm.agent_hosts.known_agents import all_agents
from skillpm.core.decoder import Node, parse_json
from skillpm.core.names import SKILL_FILE, SKILL_FILES, is_skill_name, skill_name
from skillpm.core.text import show
from skillpm.core.values import Value
from skillpm.errors import DocumentError, NotFoundError, SkillpmError
from skillpm.files import read_text
from skillpm.foreign_formats.base import Left, Reading, Taken
from skillpm.foreign_formats.claude_marketplace import read_marketplace
from skillpm.foreign_formats.gh import is_from_gh, read_gh
from skillpm.foreign_formats.skills_lock import read_skills_lock
from skillpm.foreign_formats.spm import OWN_KEYS, read_spm
from skillpm.foreign_formats.vercel import NEWEST, read_vercel
from skillpm.formats.manifest import document_kind
from skillpm.installer.skill_file import read_skill_file
from skillpm.operations.context.runtime import Tools
from skillpm.skillmd.findings import Finding, NotLoadable
from skillpm.skillmd.skill import read_skill
from skillpm.skillmd.yaml_loader import YamlFault, read_yaml

PROJECT_LOCK, GLOBAL_LOCK = NEWEST
SPM_MANIFEST, SPM_LOCK, SPM_ASIDE = "skills.json", "skills-lock.yaml", "skills.spm.json"
MARKETPLACE = "marketplace.json"
MARKETPLACES = (".claude-plugin", os.path.join(".github", "plugin"), os.path.join(".agents", "plugins"))
LOOKED_FOR = (
    f"{PROJECT_LOCK}, {GLOBAL_LOCK}, {SPM_MANIFEST} and {SPM_LOCK} of spm, .claude-plugin/{MARKETPLACE}, "
    "and skills that gh installed"
)


class Sight(Value):
    """What was found: readings, in the order in which they count, and the folder that they are about."""

    folder: str
    readings: tuple[Reading, ...]
    is_global: bool = False


def look_for_foreign(tools: Tools, place: str) -> Sight:
    """Read the file at a place, or everything that is known in a folder.

    Raises `NotFoundError` where nothing is, `DocumentError` for a file that cannot be read.
    """
    whole = os.path.normpath(os.path.join(tools.settings.working_directory, os.path.expanduser(place)))
    if os.path.isdir(whole):
        sight = _in_folder(tools, whole)
        if not sight.readings:
            folder = "this folder" if place == "." else show(place)
            raise NotFoundError(f"{folder} holds nothing of another tool", hint=f"looked for {LOOKED_FOR}")
        return sight
    if not os.path.lexists(whole):
        raise NotFoundError(f"{show(place)} is not there", hint=f"name a file or a folder with one of {LOOKED_FOR}")
    return _file(whole)


def _in_folder(tools: Tools, folder: str) -> Sight:
    home = tools.settings.home
    state = tools.settings.environ.get("XDG_STATE_HOME")
    global_lock = os.path.join(state, "skills", GLOBAL_LOCK) if state else os.path.join(home, ".agents", GLOBAL_LOCK)
    is_home = os.path.realpath(folder) == os.path.realpath(home)
    places = [os.path.join(folder, name) for name in (PROJECT_LOCK, GLOBAL_LOCK, SPM_MANIFEST, SPM_ASIDE, SPM_LOCK)]
    places += [os.path.join(folder, inner, MARKETPLACE) for inner in MARKETPLACES]
    if is_home:
        places = [global_lock]
    readings: list[Reading] = []
    for path in places:
        if os.path.isfile(path) and not (os.path.basename(path) == SPM_MANIFEST and not is_spm(path)):
            if any(reading.tool == "spm" for reading in readings) and os.path.basename(path) in {SPM_ASIDE, SPM_LOCK}:
                continue
            readings.extend(_file(path).readings)
    if gh := _installed_by_gh(folder, is_home=is_home):
        readings.append(gh)
    return Sight(folder=folder, readings=tuple(readings), is_global=is_home)


def _file(path: str) -> Sight:
    """Read one file, by its name, and where two tools have one name by its content."""
    folder, name = os.path.split(path)
    if name in {SPM_LOCK, SPM_ASIDE} or (name == SPM_MANIFEST and is_spm(path)):
        return Sight(folder=folder, readings=(_spm(folder),))
    if name in SKILL_FILES:
        reading = _gh_reading([os.path.dirname(path)], path)
        return Sight(folder=os.path.dirname(folder), readings=(reading,))
    text = read_text(path)
    if text is None:
        raise NotFoundError(f"{show(path)} is no file")
    top = parse_json(text, path)
    if not isinstance(top.value, dict):
        top.expected("an object")
    if name == GLOBAL_LOCK or ("version" in top.value and "lastSelectedAgents" in top.value):
        return Sight(folder=folder, readings=(read_vercel(top, GLOBAL_LOCK),), is_global=True)
    if "lockfileVersion" in top.value:
        return Sight(folder=folder, readings=(read_skills_lock(top),))
    if "plugins" in top.value:
        above = os.path.dirname(folder)
        root = above if os.path.basename(folder) == ".claude-plugin" else folder
        root = os.path.dirname(above) if os.path.basename(folder) in {"plugin", "plugins"} else root
        return Sight(folder=root, readings=(read_marketplace(top),))
    if "version" in top.value and isinstance(top.value.get("skills"), dict):
        return Sight(folder=folder, readings=(read_vercel(top, PROJECT_LOCK),))
    raise DocumentError("this is no file of a tool that is known", where=path, hint=f"known are {LOOKED_FOR}")


def is_spm(path: str) -> bool:
    """Tell spm's `skills.json` from a manifest of ours, which may look the same but for spm's own keys."""
    text = read_text(path)
    try:
        top = parse_json(text or "", path)
    except DocumentError:
        return False
    return isinstance(top.value, dict) and not OWN_KEYS.isdisjoint(top.value) and document_kind(top) == "foreign"


def _spm(folder: str) -> Reading:
    manifest = os.path.join(folder, SPM_MANIFEST)
    if not is_spm(manifest):
        manifest = os.path.join(folder, SPM_ASIDE)
    wanted, locked = read_text(manifest), read_text(os.path.join(folder, SPM_LOCK))
    top = None if wanted is None else parse_json(wanted, manifest)
    lock = None if locked is None else _yaml(locked, os.path.join(folder, SPM_LOCK))
    return read_spm(top, lock, os.path.join(folder, SPM_LOCK) if top is None else manifest)


def _yaml(text: str, path: str) -> Node:
    found: list[Finding] = []
    try:
        return Node(read_yaml(text, found), path)
    except YamlFault as fault:
        raise DocumentError(f"this is not YAML: {fault.message}", where=f"{path}:{fault.line}") from None


def _installed_by_gh(folder: str, *, is_home: bool) -> Reading | None:
    """Look into every folder where a host reads skills, and into this one, for skills that gh put there."""
    roots = {agent.project_dir for agent in all_agents().values() if agent.project_dir}
    if is_home:
        homes = {agent.user_dir for agent in all_agents().values() if agent.user_dir}
        roots = {template[2:] for template in homes if template.startswith("~/")}
    places = [os.path.join(folder, root) for root in sorted(roots)] + ([] if is_home else [folder])
    skills = [skill for place in places for skill in _skills_in(place)]
    reading = _gh_reading(skills, folder)
    return reading if reading.taken or reading.left else None


def _skills_in(folder: str) -> Iterator[str]:
    if os.path.isdir(folder) and os.path.basename(folder) != ".agent-skills":
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name)
            if is_skill_name(name) and any(os.path.isfile(os.path.join(path, file)) for file in SKILL_FILES):
                yield path


def _gh_reading(folders: list[str], where: str) -> Reading:
    taken: dict[str, Taken] = {}
    left: list[Left] = []
    for folder in folders:
        name = os.path.basename(folder)
        try:
            metadata, file = read_skill(read_skill_file(folder)).metadata, os.path.join(folder, SKILL_FILE)
            found = read_gh(skill_name(name), metadata, file) if is_from_gh(metadata) else None
        except (NotLoadable, OSError):
            continue
        except SkillpmError as error:
            found = Left(name=show(name), why=error.message, where=error.where)
        if isinstance(found, Left):
            left.append(found)
        elif found is not None:
            taken.setdefault(name, found)
    return Reading(tool="gh skill", file=where, taken=tuple(taken.values()), left=tuple(left))
