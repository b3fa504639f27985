"""Sources that hold one skill, a folder or an archive: its name, and how a manifest says where it is."""

import os

from skillpm.core.names import SkillName, folder_name, skill_name
from skillpm.core.text import show
from skillpm.errors import NotFoundError, UsageError
from skillpm.files import is_below
from skillpm.installer.skill_file import is_skill_folder
from skillpm.operations.context.runtime import Tools
from skillpm.operations.context.scope import Scope
from skillpm.operations.install.lock_resolution import make_fetchers
from skillpm.operations.install.source_policy import installed_places, refuse_installed
from skillpm.requirements.source import PathSource, UrlSource

ENDINGS = (".tar.gz", ".tgz", ".zip", "/SKILL.md")


def named_by_itself(
    scope: Scope, tools: Tools, source: PathSource | UrlSource, alias: str
) -> tuple[SkillName, PathSource | UrlSource]:
    """Look at a folder or an archive, for the skill's name; give the source as others may find it too.

    The name is `alias`, else what the skill calls itself, else the folder's or the file's.
    """
    typed = source.path if isinstance(source, PathSource) else source.url
    if "://" in typed:
        written = called = typed
    else:
        written, called = _on_this_machine(scope, tools, typed, is_folder=isinstance(source, PathSource))
    source = source.but(path=written) if isinstance(source, PathSource) else source.but(url=written)
    folder = os.path.basename(_without_ending(called))
    probe = SkillName(alias or folder)
    declared = make_fetchers(scope, tools).pin({probe: source}, quietly=True)[probe].declared
    name = alias or folder_name(declared, folder)
    if not name:
        raise UsageError(f"`{show(declared or typed)}` can be no name of a skill", hint="give it one with --as NAME")
    if scope.kind == "project" and os.path.isabs(written):
        tools.reporter.warning(f"{written} is outside of this repository and of HOME; others will not find it")
    return skill_name(name), source


def skills_in(tools: Tools, folder: PathSource) -> list[PathSource]:
    """Give the skills that a folder holds, each in a folder of its own; nothing where it is a skill itself."""
    whole = _whole(tools, folder.path)
    if is_skill_folder(whole) or not os.path.isdir(whole):
        return []
    names = sorted(name for name in os.listdir(whole) if is_skill_folder(os.path.join(whole, name)))
    return [folder.but(path=os.path.join(folder.path, name)) for name in names if not name.startswith(".")]


def _whole(tools: Tools, typed: str) -> str:
    whole = tools.settings.home + typed[1:] if typed.startswith("~") else typed
    return os.path.normpath(os.path.join(tools.settings.working_directory, whole))


def _on_this_machine(scope: Scope, tools: Tools, typed: str, *, is_folder: bool) -> tuple[str, str]:
    """Give how a manifest says a path, and where that really is. Raises `NotFoundError` where nothing is."""
    whole = _whole(tools, typed)
    is_there = os.path.isdir(whole) if is_folder else os.path.lexists(whole)
    if not is_there:
        what = "is no folder" if os.path.lexists(whole) else "is not there"
        raise NotFoundError(
            f"{show(typed)} {what}",
            where=whole,
            hint="a path starts where you are; a skill of a repository is owner/repo@skill, without ./ in front",
        )
    real = os.path.realpath(whole)
    refuse_installed(installed_places(scope, tools.settings), typed, real)
    return written_path(scope, tools, whole), real


def _without_ending(path: str) -> str:
    path = path.partition("?")[0]
    return next((path.removesuffix(ending) for ending in ENDINGS if path.endswith(ending)), path)


def written_path(scope: Scope, tools: Tools, whole: str) -> str:
    """Give how a manifest says a folder: relative within one git root, `~/…` below HOME, else as it is."""
    base = os.path.realpath(os.path.dirname(scope.manifest))
    real = os.path.realpath(whole)
    root = base
    while not os.path.lexists(os.path.join(root, ".git")) and os.path.dirname(root) != root:
        root = os.path.dirname(root)
    if not os.path.lexists(os.path.join(root, ".git")):
        root = base
    if scope.kind == "project" and is_below(real, root):
        relative = os.path.relpath(real, base)
        return relative if relative == "." or relative.split(os.sep)[0] == ".." else f"./{relative}"
    home = os.path.realpath(tools.settings.home)
    if is_below(real, home):
        return "~" + real[len(home) :]
    return whole
