"""Read the documents of a scope: manifest, lockfile, and the agents to link."""

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import TypeVar

from skillpm.core.json_text.decoder import parse_json
from skillpm.core.names import SkillName
from skillpm.core.shell import shell_word
from skillpm.core.suggestions import suggestion_hint
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.errors import DocumentChanged, NotFoundError, SkillpmError
from skillpm.files import read_text, translate_os_errors, write_document
from skillpm.formats.lockfile import Lockfile, read_lockfile
from skillpm.formats.manifest import EMPTY_MANIFEST, KNOWN_KEYS, Manifest, document_kind, read_manifest
from skillpm.kinds.base import Source
from skillpm.kinds.git import GitSource
from skillpm.requirements.include import Include, find_locked_includes, read_includes
from skillpm.requirements.manifest_requirements import read_overrides, read_requirements
from skillpm.scope.effective_settings import read_user_setting, user_config_path
from skillpm.scope.left_out import LeftOut
from skillpm.scope.project import Project
from skillpm.scope.scope import (
    LOCKFILE,
    MANIFEST,
    Scope,
    candidate_project_dirs,
    is_home,
    is_in_repository,
    locked_in,
    missing_manifest,
)
from skillpm.settings import Settings

MAX_TRIES = 3
Result = TypeVar("Result")


class ProjectFiles(Value):
    """The documents of a scope. Texts are None if there is no such file."""

    manifest: Manifest
    # Those that includes stand for, too, as far as they are locked.
    requirements: Mapping[SkillName, Source]
    # What is locked for these requirements: in a workspace, a part of the lockfile.
    lockfile: Lockfile
    # The manifest as it should be, and as it was read.
    manifest_text: str | None
    lockfile_text: str | None
    original_manifest_text: str | None = None
    overrides: Mapping[SkillName, Source] = EMPTY_MAPPING
    includes: tuple[Include, ...] = ()
    # The requirements that includes stand for.
    included: Mapping[SkillName, Include] = EMPTY_MAPPING
    # What this command leaves out of them.
    left_out: tuple[LeftOut, ...] = ()
    # From config.toml, which applies if the manifest names no agents.
    default_agents: tuple[str, ...] = ()
    config_path: str = ""
    # Whether the lockfile is more than its text says: another tool's, or both sides of a merge conflict.
    is_lockfile_composed: bool = False
    # The names whose requirements this command has added, and of these, those that get a range: from the version that
    # they resolve to, to the next major one.
    added: frozenset[SkillName] = frozenset()
    ranged: frozenset[SkillName] = frozenset()
    # In a workspace: the folder of this manifest (empty for the root), the requirements of the other manifests by
    # folder, the whole lockfile, and the manifest of the root.
    member: str = ""
    others: Mapping[str, Mapping[SkillName, Source]] = EMPTY_MAPPING
    workspace_lockfile: Lockfile | None = None
    root_manifest: Manifest | None = None

    @property
    def whole_lockfile(self) -> Lockfile:
        """The lockfile with the skills of all members."""
        return self.lockfile if self.workspace_lockfile is None else self.workspace_lockfile

    def alone(self, requirements: Mapping[SkillName, Source]) -> "ProjectFiles":
        """Return the files with these requirements only, as if nothing were locked and there were no workspace."""
        return self.replace(
            requirements=requirements,
            includes=(),
            lockfile=Lockfile(),
            lockfile_text=None,
            member="",
            others={},
            workspace_lockfile=None,
            root_manifest=None,
        )

    def select(self, lockfile: Lockfile) -> Lockfile:
        """Return the part of a whole lockfile that belongs to this manifest."""
        if self.workspace_lockfile is None:
            return lockfile
        from skillpm.scope.workspace_files import select_member  # noqa: PLC0415  (only in a workspace)

        return select_member(lockfile, self.member, self.requirements)

    @property
    def locked_includes(self) -> tuple[Include, ...]:
        """The includes that the lockfile records: those of the root."""
        root = self.root_manifest
        return self.includes if root is None else read_includes(root.include, root.file)

    @property
    def by_manifest(self) -> Mapping[str, Mapping[SkillName, Source]]:
        """The requirements by the folder of their manifest, which is empty for the root, or without a workspace."""
        return {**self.others, self.member: self.requirements}

    @property
    def all_requirements(self) -> Mapping[SkillName, Source]:
        """The requirements of all manifests of a workspace; of several on one name, the root's or the first."""
        if not self.others:
            return self.requirements
        manifests = (self.by_manifest[folder] for folder in sorted(self.by_manifest, reverse=True))
        return {name: source for each in manifests for name, source in each.items()}

    @property
    def covered_lockfile(self) -> Lockfile:
        """What commands about versions cover: at the root of a workspace all its skills, in a member its own."""
        return self.lockfile if self.member else self.whole_lockfile

    @property
    def covered_requirements(self) -> Mapping[SkillName, Source]:
        """What commands about versions cover; see `covered_lockfile`."""
        return self.requirements if self.member else self.all_requirements

    @property
    def agents(self) -> tuple[str, ...]:
        """The agents to link: the manifest's, else the user's."""
        return self.default_agents if self.manifest.agents is None else self.manifest.agents

    @property
    def agents_location(self) -> str:
        """Where the agents are configured, for messages."""
        return f"{self.config_path if self.manifest.agents is None else self.manifest.file}: agents"

    @property
    def disabled(self) -> set[SkillName]:
        """The skills that the manifest disables for all agents."""
        return self.manifest.disabled_for_all

    @property
    def original_texts(self) -> dict[str, str | None]:
        """The texts as they were read, by role: decisions based on them hold only while the files are unchanged."""
        return {"manifest": self.original_manifest_text, "lockfile": self.lockfile_text}

    @property
    def editable_manifest(self) -> str:
        """The text of the manifest to edit; that of an empty manifest if there is none."""
        return EMPTY_MANIFEST if self.manifest_text is None else self.manifest_text

    def find_version_range(self, name: SkillName) -> str:
        """Return the range over tags that the manifest requires a skill by; empty if it does not."""
        source = self.requirements.get(name)
        return source.ref if isinstance(source, GitSource) and source.kind == "version" else ""

    def with_manifest_text(self, text: str) -> "ProjectFiles":
        """Return the files with another manifest."""
        manifest = read_manifest(text, self.manifest.file)
        if self.root_manifest is not None:
            from skillpm.scope.workspace_files import with_root_settings  # noqa: PLC0415  (only in a member)

            manifest = with_root_settings(manifest, self.root_manifest)
        overrides = read_overrides(self.root_manifest or manifest)
        files = self.replace(manifest=manifest, overrides=overrides, manifest_text=text)
        return files.with_included(self.lockfile)

    def with_included(self, lockfile: Lockfile) -> "ProjectFiles":
        """Return the files with the requirements of the manifest, and those of a lockfile that includes stand for."""
        own = read_requirements(self.manifest, self.member)
        if self.member:  # only the root has includes
            return self.replace(requirements=own)
        includes = read_includes(self.manifest.include, self.manifest.file)
        found = find_locked_includes(includes, own, lockfile)
        return self.replace(
            includes=includes,
            included={name: include for name, (include, _) in found.items()},
            requirements={**own, **{name: source for name, (_, source) in found.items()}},
        )


def read_project_files(project: Project, lockfile: Lockfile | None = None) -> ProjectFiles:
    """Read the documents of a scope; the lockfile, too, unless its content is given."""
    text, lock_text = read_text(project.scope.manifest), read_text(project.scope.lockfile)
    manifest = Manifest(file=project.scope.manifest) if text is None else read_manifest(text, project.scope.manifest)
    user_agents = None if manifest.agents is not None else read_user_setting(project.settings, "agents")
    for key in manifest.unknown_keys:
        hint = suggestion_hint(key, KNOWN_KEYS, "it is kept")
        project.reporter.warn(f"{project.scope.manifest}: unknown key `{key}`; {hint}")
    lockfile = lockfile or (Lockfile() if lock_text is None else read_lockfile(lock_text, project.scope.lockfile))
    files = ProjectFiles(
        manifest=manifest,
        requirements={},
        member=project.scope.member,
        overrides=read_overrides(manifest),
        lockfile=lockfile,
        manifest_text=text,
        lockfile_text=lock_text,
        original_manifest_text=text,
        default_agents=() if user_agents is None else user_agents.texts(),
        config_path=user_config_path(project.settings),
    )
    files = files.with_included(lockfile)
    if not (project.scope.member or manifest.members or lockfile.members):
        return files
    return _add_workspace(project, files)


def _add_workspace(project: Project, files: ProjectFiles) -> ProjectFiles:
    """Return the files of a root or a member with what the other manifests require, and with its part of the lockfile.

    Raises `DocumentError` for a member that decides what only the root may decide.
    """
    from skillpm.scope.workspace_files import read_workspace, with_root_settings  # noqa: PLC0415

    workspace = read_workspace(project, files.manifest, files.lockfile)
    root = workspace.root
    files = files.replace(
        manifest=with_root_settings(files.manifest, root) if project.scope.member else files.manifest,
        overrides=read_overrides(root),
        others={folder: each for folder, each in workspace.requirements.items() if folder != project.scope.member},
        workspace_lockfile=files.lockfile,
        root_manifest=root if project.scope.member else None,
    )
    return files.replace(lockfile=files.select(files.whole_lockfile))


def check_unchanged(scope: Scope, files: ProjectFiles) -> None:
    """Raise `DocumentChanged` if a document was saved since it was read."""
    for path, text in ((scope.manifest, files.original_manifest_text), (scope.lockfile, files.lockfile_text)):
        if read_text(path) != text:
            raise DocumentChanged(path)


def write_checked_lockfile(project: Project, files: ProjectFiles, text: str) -> None:
    """Write the lockfile, while holding the lock. Raises `DocumentChanged` if a document has been saved meanwhile."""

    def check(target: str) -> None:
        check_unchanged(project.scope, files)
        if read_text(target) != files.lockfile_text:  # it may be a link, which another process has changed
            raise DocumentChanged(target)

    check(project.scope.lockfile)
    copies = keep_bundled(project, files.whole_lockfile, text)
    with copies, translate_os_errors("write the lockfile", project.scope.lockfile):
        write_document(
            project.scope.lockfile,
            text.encode(),
            fsync=project.settings.fsync,
            link_boundary=project.scope.document_boundary,
            before_rename=check,
        )


def keep_bundled(project: Project, before: Lockfile, text: str | None) -> AbstractContextManager[None]:
    """Keep copies of the bundled skills that a project locks, while the body writes the new text of the lockfile."""
    is_bundled = any(skill.pin.bundled_name for skill in before.skills.values())
    if text is None or project.scope.kind != "project" or not (is_bundled or '"bundled"' in text):
        return nullcontext()
    from skillpm.scope.bundled_copies import keep_bundled_copies  # noqa: PLC0415  (few are bundled)

    return keep_bundled_copies(project, before, text)


def retry_if_changed(operation: Callable[[], Result]) -> Result:
    """Run an operation that reads the documents, and run it again if one of them was saved meanwhile.

    Editors take no lock. What was fetched is in the store the second time. Raises `DocumentChanged` after some tries.
    """
    for _ in range(MAX_TRIES - 1):
        with suppress(DocumentChanged):
            return operation()
    return operation()


def require_manifest(scope: Scope, files: ProjectFiles) -> ProjectFiles:
    """Return the files. Raises `NotFoundError` if there is no manifest but skills are locked: they would be removed."""
    if files.manifest_text is None and files.lockfile.skills:
        raise missing_manifest(
            scope.manifest, len(files.lockfile.skills), f"skillpm init{' -g' if scope.kind == 'user' else ''}"
        )
    return files


def require_project_manifest(scope: Scope, settings: Settings) -> None:
    """Raise `NotFoundError` if user scope applies only because a project lost its manifest."""
    if not scope.is_fallback:
        return
    for folder in candidate_project_dirs(settings):
        if count := locked_in(os.path.join(folder, LOCKFILE)):
            error = missing_manifest(os.path.join(folder, MANIFEST), count, "skillpm init")
            error.hint += "; use `-g` for user scope"
            raise error


def require_project_in_ci(scope: Scope, settings: Settings) -> None:
    """Raise `NotFoundError` in CI if user scope applies only because there is no project.

    A job that runs in the wrong folder would otherwise install nothing and succeed. The variables that choose another
    user scope are a choice, too.
    """
    is_chosen = any(settings.environ.get(name) for name in ("SKILLPM_HOME", "SKILLPM_CONFIG_DIR"))
    if scope.is_fallback and settings.ci and not is_chosen:
        raise NotFoundError(
            missing_project_message(settings),
            where=settings.working_directory,
            hint="CI is set, so the user scope is not used instead: run it in the project, or use --project DIR or -g",
        )


def missing_project_message(settings: Settings) -> str:
    """Return the message about a missing project, with the one above the searched folders that was not considered."""
    searched = {*candidate_project_dirs(settings)}
    folder = os.path.dirname(settings.working_directory)
    while folder != os.path.dirname(folder):
        if folder not in searched and not is_home(settings, folder) and _has_manifest(folder):
            option = f"`--project {shell_word(folder)}`"
            if is_in_repository(settings):
                return f"no skills.json found here or above in this git repository ({option} uses the one outside it)"
            return f"no skills.json found here ({option} uses the one above, which is not in a folder of your own)"
        folder = os.path.dirname(folder)
    return "no skills.json found here or above"


def _has_manifest(folder: str) -> bool:
    path = os.path.join(folder, MANIFEST)
    try:
        text = read_text(path)
        return text is not None and document_kind(parse_json(text, path)) == "manifest"
    except SkillpmError:
        return False
