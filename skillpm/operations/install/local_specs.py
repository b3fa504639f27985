"""Sources that hold one skill, a folder or an archive: its name, and how a manifest says where it is."""

import os

from skillpm.core.names import SkillName, choose_install_name, parse_skill_name
from skillpm.core.text import sanitize
from skillpm.errors import NotFoundError, UsageError
from skillpm.files import is_below
from skillpm.installer.skill_file import is_skill_folder
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope
from skillpm.operations.install.lock_resolution import make_fetchers
from skillpm.operations.install.source_policy import find_install_paths, refuse_installed
from skillpm.requirements.source import PathSource, UrlSource

SPEC_SUFFIXES = (".tar.gz", ".tgz", ".zip", "/SKILL.md")


def resolve_local_spec(
    scope: Scope, context: Context, source: PathSource | UrlSource, alias: str
) -> tuple[SkillName, PathSource | UrlSource]:
    """Look at a folder or an archive, for the skill's name; give the source as others may find it too.

    The name is `alias`, else what the skill calls itself, else the folder's or the file's.
    """
    typed = source.path if isinstance(source, PathSource) else source.url
    if "://" in typed:
        written = called = typed
    else:
        written, called = _resolve_path(scope, context, typed, is_folder=isinstance(source, PathSource))
    source = source.replace(path=written) if isinstance(source, PathSource) else source.replace(url=written)
    folder = os.path.basename(_strip_suffix(called))
    probe = SkillName(alias or folder)
    declared = make_fetchers(scope, context).pin({probe: source}, quiet=True)[probe].declared_name
    name = alias or choose_install_name(declared, folder)
    if not name:
        raise UsageError(
            f"`{sanitize(declared or typed)}` can be no name of a skill", hint="give it one with --as NAME"
        )
    if scope.kind == "project" and os.path.isabs(written):
        context.reporter.warn(f"{written} is outside of this repository and of HOME; others will not find it")
    return parse_skill_name(name), source


def find_skills(context: Context, folder: PathSource) -> list[PathSource]:
    """Give the skills that a folder holds, each in a folder of its own; nothing where it is a skill itself."""
    whole = _absolute_path(context, folder.path)
    if is_skill_folder(whole) or not os.path.isdir(whole):
        return []
    names = sorted(name for name in os.listdir(whole) if is_skill_folder(os.path.join(whole, name)))
    return [folder.replace(path=os.path.join(folder.path, name)) for name in names if not name.startswith(".")]


def _absolute_path(context: Context, path: str) -> str:
    whole = context.settings.home + path[1:] if path.startswith("~") else path
    return os.path.normpath(os.path.join(context.settings.working_directory, whole))


def _resolve_path(scope: Scope, context: Context, path: str, *, is_folder: bool) -> tuple[str, str]:
    """Give how a manifest says a path, and where that really is. Raises `NotFoundError` where nothing is."""
    whole = _absolute_path(context, path)
    is_there = os.path.isdir(whole) if is_folder else os.path.lexists(whole)
    if not is_there:
        what = "is no folder" if os.path.lexists(whole) else "is not there"
        raise NotFoundError(
            f"{sanitize(path)} {what}",
            where=whole,
            hint="a path starts where you are; a skill of a repository is owner/repo@skill, without ./ in front",
        )
    real = os.path.realpath(whole)
    refuse_installed(find_install_paths(scope, context.settings), path, real)
    return manifest_path(scope, context, whole), real


def _strip_suffix(path: str) -> str:
    path = path.partition("?")[0]
    return next((path.removesuffix(ending) for ending in SPEC_SUFFIXES if path.endswith(ending)), path)


def manifest_path(scope: Scope, context: Context, path: str) -> str:
    """Give how a manifest says a folder: relative within one git root, `~/…` below HOME, else as it is."""
    base = os.path.realpath(os.path.dirname(scope.manifest))
    real = os.path.realpath(path)
    root = base
    while not os.path.lexists(os.path.join(root, ".git")) and os.path.dirname(root) != root:
        root = os.path.dirname(root)
    if not os.path.lexists(os.path.join(root, ".git")):
        root = base
    if scope.kind == "project" and is_below(real, root):
        relative = os.path.relpath(real, base)
        return relative if relative == "." or relative.split(os.sep)[0] == ".." else f"./{relative}"
    home = os.path.realpath(context.settings.home)
    if is_below(real, home):
        return "~" + real[len(home) :]
    return path
