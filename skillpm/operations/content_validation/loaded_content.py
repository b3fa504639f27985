"""Audit the folder of a skill that is about to be loaded."""

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from shlex import quote

from skillpm.core.digest import content_hash
from skillpm.core.file_tree import FileTree, TreeFile
from skillpm.core.names import SkillName
from skillpm.core.text import sanitize
from skillpm.files import is_below, read_regular_file
from skillpm.formats.lockfile import LockedSkill
from skillpm.formats.pin import PathPin
from skillpm.operations.audit.verdicts import read_or_audit
from skillpm.operations.content_validation.allowed import read_allowed
from skillpm.operations.content_validation.audited import is_blocking, to_problem
from skillpm.operations.content_validation.problems import IncomingSkill, ValidationRequest, refusal
from skillpm.operations.context.audit_settings import load_audit_settings
from skillpm.operations.context.runtime import Context
from skillpm.operations.context.scope import Scope
from skillpm.operations.pipeline.plan import ValidationOptions
from skillpm.settings import Settings


def refuse_content(scope: Scope, settings: Settings, name: SkillName, folder: str, paths: Sequence[str]) -> None:
    """Raise `NotTrusted` if a finding in these files blocks, and the user has not allowed its rule for this content."""
    context = Context(settings=settings)
    tree = read_files(folder, paths)
    skill = IncomingSkill(name=name, locked=LockedSkill(pin=PathPin(path=folder), digest=tree.digest), tree=tree)
    audit = load_audit_settings(scope, settings)
    options = ValidationOptions(allow=tuple(read_allowed(settings.cache_dir, tree.digest)))
    request = ValidationRequest(scope=scope, context=context, incoming=[skill], options=options, audit=audit)
    blocking = [each for each in read_or_audit(context, tree, tree.digest) if is_blocking(request, skill, each)]
    if blocking:
        look = f"`skillpm audit {quote(sanitize(folder, 400))}` shows what it contains"
        hint = f"{look}; to load it all the same, make an exception for {tree.digest} in config.toml"
        raise refusal([to_problem(skill, each, hint) for each in blocking], outcome="it was not loaded")


def read_files(folder: str, paths: Sequence[str]) -> FileTree:
    """Return these files of a folder as a tree, without those that cannot be read and links to outside."""
    return FileTree(files=tuple(sorted(_read_files(folder, paths), key=lambda file: file.path.encode())))


def _read_files(folder: str, paths: Sequence[str]) -> Iterator[TreeFile]:
    for path in paths:
        real = os.path.realpath(path)
        if not is_below(real, folder) and len(paths) > 1:
            continue  # a link to outside, which is never served
        with suppress(OSError):
            data = read_regular_file(real)
            relative = os.path.relpath(path, folder).replace(os.sep, "/")
            yield TreeFile(path=relative, data=data, content_hash=content_hash(data))
