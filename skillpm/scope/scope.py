"""The scope of a command: a project, searched upwards from the working directory, or user scope."""

import os
import stat
from collections.abc import Iterator
from typing import Literal

from skillpm.core.json_text.decoder import JsonNode, parse_json
from skillpm.core.shell import shell_word
from skillpm.core.text import pluralize, sanitize
from skillpm.core.values import Value
from skillpm.errors import ConflictError, DocumentError, NotFoundError, UsageError
from skillpm.files import is_below, read_text
from skillpm.formats.manifest import START_HINT, document_kind, mistyped_manifest_error
from skillpm.installer.disk.layout import PROJECT_FOLDER, InstallTarget, Layout, LinkFolders
from skillpm.installer.escaping_links import boundary_of, find_repository_root
from skillpm.settings import Settings

MANIFEST, LOCKFILE = "skills.json", "skills.lock"
MEMBERS_KEY = '"members"'


class Scope(Value):
    """Where a command works: a project, or the user's own skills."""

    kind: Literal["project", "user"]
    # The folder at which the agents' folders start.
    root: str
    layout: Layout
    manifest: str
    # In a workspace, that of the root: all members share it.
    lockfile: str
    # The folder of a member of a workspace, relative to the root, with `/`; empty for all other scopes.
    member: str = ""
    # Whether user scope was chosen only because there is no project.
    is_fallback: bool = False

    @property
    def flag(self) -> str:
        """The options that select this scope on a command line, for commands in messages: ` -g`, or nothing."""
        return self.layout.scope_flag

    def command(self, name: str, *arguments: str) -> str:
        """Return a command that works in this scope: `skillpm diff -g pdf`."""
        return self.layout.command(name, *arguments)

    @property
    def base(self) -> str:
        """The folder at which relative paths in the lockfile start."""
        return os.path.dirname(self.lockfile)

    @property
    def root_manifest(self) -> str:
        """The manifest next to the lockfile: in a workspace that of the root, else the scope's own."""
        return os.path.join(self.base, MANIFEST) if self.member else self.manifest

    @property
    def is_standalone(self) -> bool:
        """Whether the skills directory belongs to no scope (`migrate DIR`), so that there are no agents to link."""
        return self.root == self.layout.directory

    @property
    def document_boundary(self) -> str:
        """The folder that manifest and lockfile may be links into; empty in user scope: anywhere."""
        return find_repository_root(self.base) if self.kind == "project" else ""

    def target(self, settings: Settings) -> InstallTarget:
        """Return the target of a transaction."""
        documents = {
            "receipt": self.layout.receipt,
            "registry": self.layout.registry,
            "manifest": self.manifest,
            "lockfile": self.lockfile,
        }
        return InstallTarget(
            layout=self.layout,
            documents=documents,
            link_folders=self.link_folders(settings),
            document_boundary=self.document_boundary,
            fsync=settings.fsync,
            is_agent_folder=lambda folder: self.reads_skills(folder, settings),
        )

    def reads_skills(self, folder: str, settings: Settings) -> bool:
        """Return whether an agent reads skills in a folder, named as in a receipt, in this scope."""
        from skillpm.agent_hosts.known_agents import agent_folder, load_agents  # noqa: PLC0415  (few commands need it)

        return folder in {agent_folder(agent, self.kind, settings) for agent in load_agents().values()}

    def link_folders(self, settings: Settings) -> LinkFolders:
        """Return how agents' folders become paths in this scope."""
        boundary = self.root if self.kind == "project" else ""
        return LinkFolders(root=self.root, home=settings.home, boundary=boundary)


def find_scope(settings: Settings, *, user: bool = False, project: str = "") -> Scope:
    """Return the scope that options and working directory select.

    Raises `DocumentError` for another tool's skills.json, and `NotFoundError` if the named project has no manifest.
    """
    if user:
        return user_scope(settings)
    if project:
        root = os.path.abspath(os.path.join(settings.working_directory, project))
        refuse_home(settings, root)
        if not os.path.isfile(os.path.join(root, MANIFEST)):
            if count := locked_in(os.path.join(root, LOCKFILE)):
                raise missing_manifest(os.path.join(root, MANIFEST), count, f"skillpm init {shell_word(project)}")
            raise NotFoundError(
                f"{root} has no skills.json", hint=f"start a project with `skillpm init {shell_word(project)}`"
            )
        return project_scope(settings, root, flag=f" --project {shell_word(project)}")
    for folder in candidate_project_dirs(settings):
        path = os.path.join(folder, MANIFEST)
        text = read_text(path)
        if text is None:
            continue
        top = parse_json(text, path)
        kind = document_kind(top)
        if kind == "manifest":
            return project_scope(settings, folder)
        if kind == "foreign" or not _is_skills_directory(settings, folder):
            raise _foreign_error(top)
    return user_scope(settings).replace(is_fallback=True)


def locked_in(path: str) -> int:
    """Return how many skills a lockfile locks: 0 if there is no file, or if it belongs to another tool."""
    from skillpm.formats.lockfile import read_lockfile  # noqa: PLC0415  (only if there is no manifest)

    try:
        text = read_text(path)
        return 0 if text is None else len(read_lockfile(text, path).skills)
    except DocumentError:
        return 0


def missing_manifest(manifest: str, count: int, init: str) -> NotFoundError:
    """Return the error for a manifest that is gone while the lockfile beside it still locks `count` skills.

    `init` is the command that creates an empty manifest.
    """
    return NotFoundError(
        f"skills.json is missing, but skills.lock next to it locks {pluralize(count, 'skill')}; nothing was changed",
        where=manifest,
        hint="restore it from version control or dotfiles; if you want none of these skills, delete skills.lock and "
        f"run `{init}`",
    )


def resolve_project_scope(settings: Settings, folder: str) -> Scope:
    """Return the scope of a folder that is, or will be, a project. Raises `UsageError` for HOME."""
    root = os.path.abspath(os.path.join(settings.working_directory, folder))
    refuse_home(settings, root)
    return project_scope(settings, root)


def user_scope(settings: Settings) -> Scope:
    """Return user scope."""
    layout = Layout(directory=settings.skills_home, scope_flag=" -g")
    if os.path.islink(layout.internal_dir):
        raise ConflictError(
            f"{layout.internal_dir} is a link", hint="skillpm keeps its own files there; remove the link"
        )
    return Scope(
        kind="user",
        root=settings.home,
        layout=layout,
        manifest=os.path.join(settings.config_dir, MANIFEST),
        lockfile=os.path.join(settings.config_dir, LOCKFILE),
    )


def project_scope(settings: Settings, root: str, *, flag: str = "") -> Scope:
    """Return the scope of a project, which may be a member of a workspace.

    Raises `ConflictError` if its skills directory is a link to outside.
    """
    layout = Layout(
        directory=os.path.join(root, PROJECT_FOLDER), boundary=boundary_of(root, settings.home), scope_flag=flag
    )
    _refuse_escaping_links(layout, root)
    base = _find_workspace_root(settings, root) or root
    member = "" if base == root else os.path.relpath(root, base).replace(os.sep, "/")
    manifest, lockfile = os.path.join(root, MANIFEST), os.path.join(base, LOCKFILE)
    for path in (manifest, lockfile):
        if os.path.islink(path):
            _refuse_escaping_link(path, find_repository_root(root))
    return Scope(kind="project", root=root, layout=layout, manifest=manifest, lockfile=lockfile, member=member)


def _find_workspace_root(settings: Settings, root: str) -> str:
    """Return the root of the workspace that has a project as a member; empty if none has."""
    enclosing = [folder for folder in enclosing_folders(root) if os.path.isfile(os.path.join(folder, MANIFEST))]
    if not enclosing:
        return ""
    from skillpm.scope.workspace import find_workspace_root  # noqa: PLC0415  (only below another manifest)

    found = find_workspace_root(root, enclosing)
    return "" if found and is_home(settings, found) else found


def enclosing_folders(folder: str) -> Iterator[str]:
    """Yield the folders above a project that may have it as a member: in a git repository, up to its root."""
    while not os.path.lexists(os.path.join(folder, ".git")) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
        yield folder


def is_workspace_root(scope: Scope) -> bool:
    """Return whether the manifest of a project has the key `members`; it need not be valid."""
    text = None if scope.kind == "user" or scope.member else read_text(scope.manifest)
    return text is not None and MEMBERS_KEY in text


def workspace_scope(scope: Scope, settings: Settings) -> Scope:
    """Return the scope of the root of a member's workspace."""
    return project_scope(settings, scope.base)


def member_scope(scope: Scope, settings: Settings, folder: str) -> Scope:
    """Return the scope of a member, for a command that works in the root of its workspace."""
    path = os.path.join(scope.root, folder)
    shown = os.path.relpath(path, settings.working_directory)
    return project_scope(settings, path, flag=f" --project {shell_word(shown)}")


def folder_scope(settings: Settings, folder: str) -> Scope:
    """Return the scope of a skills directory. A folder that belongs to no scope gets its own, as with SKILLPM_HOME.

    Raises `NotFoundError` if there is no such folder, and `UsageError` for HOME.
    """
    directory = os.path.realpath(os.path.join(settings.working_directory, folder))
    if not os.path.isdir(directory):
        raise NotFoundError(f"folder not found: {sanitize(folder)}", hint="name the folder that contains the skills")
    if is_home(settings, directory):
        raise UsageError(f"{directory} is not a skills directory", hint="name the folder that contains the skills")
    if directory == os.path.realpath(settings.skills_home):
        return user_scope(settings)
    root, name = os.path.split(directory)
    if name == PROJECT_FOLDER and os.path.isfile(os.path.join(root, MANIFEST)):
        return project_scope(settings, root)
    layout = Layout(directory=directory)
    _refuse_escaping_links(layout, directory)
    manifest, lockfile = os.path.join(layout.internal_dir, MANIFEST), os.path.join(layout.internal_dir, LOCKFILE)
    return Scope(kind="project", root=directory, layout=layout, manifest=manifest, lockfile=lockfile)


def _refuse_escaping_links(layout: Layout, root: str) -> None:
    """Raise `ConflictError` if a folder that will be written to is a link that leads out of its root."""
    inner = (layout.staging, layout.trash, layout.backups, layout.rejected, layout.undeletable)
    for path in (layout.directory, layout.internal_dir, *inner):
        _refuse_escaping_link(path, root)


def _refuse_escaping_link(path: str, root: str) -> None:
    if os.path.islink(path) and not is_below(os.path.realpath(path), os.path.realpath(root)):
        raise ConflictError(
            f"{path} is a link that points outside the project",
            hint="remove the link; a repository must not decide where skills are written",
        )


def _is_skills_directory(settings: Settings, folder: str) -> bool:
    """Return whether a folder is a skills directory, whose skills.json is a registry."""
    if os.path.basename(folder) == PROJECT_FOLDER or os.path.isdir(Layout(directory=folder).internal_dir):
        return True
    return os.path.realpath(folder) == os.path.realpath(settings.skills_home)


def _foreign_error(top: JsonNode) -> DocumentError:
    """Return the error for a skills.json that is not a manifest: it must not be passed over in silence."""
    if document_kind(top) == "registry":
        return DocumentError("this file is a registry (`skills` is an array)", where=top.where, hint=START_HINT)
    return mistyped_manifest_error(top) or DocumentError(
        "this skills.json belongs to another tool",
        where=top.where,
        hint="use user scope (`-g`), or select a project with --project",
    )


def candidate_project_dirs(settings: Settings) -> Iterator[str]:
    """Return the folders that may be the project: up to the git root; outside of git, up to where others may write."""
    start = settings.working_directory
    folders = _repository_folders(start) or [start, *_own_folders_above(start, settings)]
    return (folder for folder in folders if not is_home(settings, folder))


def _repository_folders(start: str) -> list[str]:
    """Return a folder and those above it, up to the root of its git repository; empty outside of git."""
    folders = [start]
    while not os.path.lexists(os.path.join(folders[-1], ".git")):
        parent = os.path.dirname(folders[-1])
        if parent == folders[-1]:
            return []
        folders.append(parent)
    return folders


def _own_folders_above(start: str, settings: Settings) -> Iterator[str]:
    """Yield the folders above one that belong to the user alone; not HOME, nor what is above HOME or a mount point."""
    folder = start
    while hasattr(os, "geteuid") and not is_home(settings, folder):
        child, folder = folder, os.path.dirname(folder)
        try:
            state, below = os.stat(folder), os.stat(child)
        except OSError:
            return
        if state.st_uid != os.geteuid() or state.st_mode & stat.S_IWOTH or state.st_dev != below.st_dev:
            return
        yield folder


def enclosing_projects(scope: Scope, settings: Settings) -> Iterator[Scope]:
    """Yield the projects around a project that have a skills directory, nearest first, up to the git root."""
    for folder in _repository_folders(scope.root):
        if (
            folder != scope.root
            and not is_home(settings, folder)
            and os.path.isdir(os.path.join(folder, PROJECT_FOLDER))
        ):
            yield project_scope(settings, folder)


def is_in_repository(settings: Settings) -> bool:
    """Return whether the working directory is in a git repository that could be a project, and not HOME."""
    root = find_repository_root(settings.working_directory)
    return os.path.lexists(os.path.join(root, ".git")) and not is_home(settings, root)


def refuse_home(settings: Settings, root: str) -> None:
    """Raise `UsageError` for HOME: as a project, its skills directory would be that of user scope."""
    if is_home(settings, root):
        raise UsageError(f"{root} cannot be a project", hint="use user scope (`-g`), or a folder below it")


def is_home(settings: Settings, folder: str) -> bool:
    """Return whether a folder is HOME, or the root of the file system: neither can be a project."""
    return os.path.realpath(folder) in {os.path.realpath(settings.home), os.path.realpath(os.sep)}
