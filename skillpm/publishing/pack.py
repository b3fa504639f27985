"""`pack`: the archive of one valid skill."""

import os
from shlex import join
from typing import TYPE_CHECKING

from skillpm.core.text import sanitize
from skillpm.errors import RefusedError, UsageError
from skillpm.files import translate_os_errors, write_document
from skillpm.publishing.drafts import (
    ReleaseDraft,
    find_version_error,
    read_drafts,
)
from skillpm.publishing.index.tarball import pack_archive
from skillpm.publishing.signing import sign_tree
from skillpm.requirements.specifier import ARCHIVE_SUFFIXES
from skillpm.scope.project import Session

if TYPE_CHECKING:
    from skillpm.trust.skill_signature import SigningKey
from skillpm.publishing.drafts import would_include
from skillpm.publishing.libraries import require_libraries
from skillpm.publishing.reports import MAX_MESSAGES, warn_uncommitted

PACK_SUFFIXES = (".skill", *ARCHIVE_SUFFIXES)


def pack_skill(session: Session, path: str, output: str = "", key: "SigningKey | None" = None) -> str:
    """Write the archive of one valid skill and return its path; the same skill always yields the same bytes.

    Raises `RefusedError` for an invalid skill, and for an archive that would be inside the skill.
    """
    require_libraries()
    drafts: list[ReleaseDraft] = []
    read_drafts(session, path, drafts.append)
    if len(drafts) != 1:
        raise UsageError(
            f"{sanitize(path)} contains {len(drafts)} skills; `pack` takes one", hint="name the folder of one skill"
        )
    draft = drafts[0]
    version_error = find_version_error(draft) if draft.version else ""
    errors = [*draft.errors, *([version_error] if version_error else [])]
    if errors or draft.tree is None:
        raise RefusedError(
            f"{sanitize(draft.label)} is not valid: {'; '.join(errors[:MAX_MESSAGES])}",
            hint="run `skillpm validate` for all findings; nothing was written",
        )
    warn_uncommitted(session, drafts, "packed")
    tree = sign_tree(session, draft, draft.tree, key)
    file_name = f"{draft.name}-{draft.version}.tar.gz" if draft.version else f"{draft.name}.tar.gz"
    base = session.settings.working_directory
    path_out = os.path.join(base, output)
    target = path_out if output.endswith(PACK_SUFFIXES) else os.path.join(path_out, file_name)
    with translate_os_errors("write an archive", target):
        if would_include(session, draft, target):
            raise _archive_in_skill_error(path, draft, target, base)
        write_document(target, pack_archive(tree), fsync=session.settings.fsync)
    return os.path.relpath(target, base)


def _archive_in_skill_error(path: str, draft: ReleaseDraft, target: str, working_directory: str) -> RefusedError:
    parent = os.path.normpath(os.path.join(draft.label, os.pardir))
    command = join(["skillpm", "pack", *([] if path == "." else [path]), "--out", parent])
    archive = sanitize(os.path.relpath(target, working_directory))
    return RefusedError(
        f"{archive} is inside the skill that it packs and would become part of it",
        hint=f"write it elsewhere (`{sanitize(command)}`) or add it to .gitignore; nothing was written",
    )
