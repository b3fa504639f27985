"""Warnings about skills that are about to be installed: other names, unmet requirements, Git LFS pointers."""

from collections.abc import Iterator, Mapping, Sequence

from skillpm.core.file_tree import FileTree
from skillpm.core.git_syntax import is_lfs_pointer
from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.formats.registry import RegistryEntry
from skillpm.installer.disk.staging import SkillContent
from skillpm.kinds.base import Pin

MAX_NAMED = 3


def declared_name_messages(new_names: Sequence[str], entries: Mapping[str, RegistryEntry]) -> Iterator[str]:
    """Yield a message for each new skill whose SKILL.md declares another name, and whether others declare the same.

    A SKILL.md is never modified, so folder, registry and links have one name, and the file has another. Many are
    summarized.
    """
    declared = {name: entry.get("declaredName") or name for name, entry in entries.items()}
    differing = [name for name in sorted(new_names) if declared.get(name, name) != name]
    if len(differing) > MAX_NAMED:
        names = ", ".join(f"`{name}` (`{sanitize(declared[name], 64)}`)" for name in differing[:MAX_NAMED])
        more = f" and {len(differing) - MAX_NAMED} more"
        yield f"{len(differing)} SKILL.md files declare another name, and some agents show that one: {names}{more}"
        return
    for name in differing:
        own = declared[name]
        message = f"the SKILL.md of `{name}` declares the name `{sanitize(own)}`, and some agents show that one"
        others = sorted(other for other, declared_name in declared.items() if declared_name == own and other != name)
        if others:
            verb = "declares" if len(others) == 1 else "declare"
            message += f"; {', '.join(f'`{other}`' for other in others)} {verb} it, too, and they may show only one"
        yield message


def unmet_requirement_messages(
    new_names: Sequence[str], entries: Mapping[str, RegistryEntry], environ: Mapping[str, str]
) -> Iterator[str]:
    """Yield a message if new skills declare a program, variable or system that is missing here."""
    declaring = [name for name in sorted(new_names) if {"requires", "needs"} & entries.get(name, {}).keys()]
    if not declaring:
        return
    from skillpm.serving.availability import Environment  # noqa: PLC0415  (few skills declare any)

    environment, missing = Environment(environ), dict[str, str]()
    for name in declaring:
        entry = entries[name]
        if unmet := environment.find_unmet(entry.get("requires", ()), entry.get("needs", {})):
            missing[name] = ", ".join(sanitize(item, 60) for item in unmet)
    if len(missing) == 1:
        yield from (f"{name} has unmet requirements: {unmet}" for name, unmet in missing.items())
    elif missing:
        named = ", ".join(f"{name} ({unmet})" for name, unmet in [*missing.items()][:MAX_NAMED])
        more = f" and {len(missing) - MAX_NAMED} more" if len(missing) > MAX_NAMED else ""
        yield f"{len(missing)} skills have unmet requirements: {named}{more}"


def lfs_messages(contents: Mapping[SkillName, SkillContent], pins: Mapping[SkillName, Pin]) -> Iterator[str]:
    """Yield a message for each skill that contains Git LFS pointers instead of files."""
    for name, content in contents.items():
        files = content.files if isinstance(content, FileTree) else ()
        pointers = [sanitize(file.path, 80) for file in files if is_lfs_pointer(file.data)]
        if not pointers:
            continue
        more = f" and {len(pointers) - MAX_NAMED} more" if len(pointers) > MAX_NAMED else ""
        are = "is a Git LFS pointer" if len(pointers) == 1 else "are Git LFS pointers"
        is_local = bool(pins[name].local_folder)
        remedy = "run `git lfs pull` there, then sync" if is_local else "ask its author to commit the file without LFS"
        listed = ", ".join(pointers[:MAX_NAMED]) + more
        yield f"{name}: {listed} {are}, not the content, which skillpm does not fetch; {remedy}"
