"""The errors that skillpm reports to the user.

An error has three texts: what happened (`message`), where (`where`: file, key, line), and what to try (`hint`). `code`
is a stable kebab-case identifier for programs (docs/errors.md lists them); `exit_code` is the exit code of the process.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

MAX_NAMES_LISTED = 40
MAX_REASONS_LISTED = 20
RESTORE_LOCKFILE_HINT = "restore it from version control, or delete it and run `skillpm lock`"
FIX_DOCUMENT_HINT = "fix the file by hand, or restore it from version control"


class SkillpmError(Exception):
    """Base class of all errors. `skills` are the names of the installed or required skills that it concerns."""

    code = "error"
    exit_code = 1

    def __init__(self, message: str, *, where: str = "", hint: str = "", skills: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.hint = hint
        self.skills = tuple(skills)

    @property
    def parts(self) -> "Sequence[SkillpmError]":
        """The errors that this one combines: only itself, unless it says otherwise."""
        return (self,)

    @property
    def details(self) -> Mapping[str, Any]:
        """More members of the error in JSON: none, unless it says otherwise."""
        return {}


@contextmanager
def concerning(*names: str) -> Iterator[None]:
    """Record the skills that an error in the body concerns, unless a narrower record was made below.

    Except for wrong arguments and variables: these concern no source.
    """
    try:
        yield
    except UsageError:
        raise
    except SkillpmError as error:
        error.skills = error.skills or names
        raise


class UsageError(SkillpmError):
    """An argument, option or environment variable is invalid."""

    code = "usage"
    exit_code = 2


class DocumentError(SkillpmError):
    """A document cannot be read; `where` is its file and key path."""

    code = "document"


class NewerDocument(DocumentError):
    """A document has a newer format than this skillpm supports."""

    code = "newer-format"

    def __init__(self, where: str, *, document_format: object, supported_format: int) -> None:
        super().__init__(
            f"unsupported format {document_format}; this version of skillpm reads up to {supported_format}",
            where=where,
            hint="upgrade skillpm: pip install --upgrade agent-skillpm",
        )


class NotFoundError(SkillpmError):
    """A skill, a ref, a folder or a repository does not exist."""

    code = "not-found"


class UnknownSkillError(NotFoundError):
    """No index is configured, and skillpm bundles no skill of this name.

    `choices` are public skills of the name, if they were looked up: SPEC, folder and text of each.
    """

    def __init__(self, name: str, message: str, *, hint: str, choices: Sequence[tuple[str, str, str]] = ()) -> None:
        super().__init__(message, hint=hint)
        self.spec = self.display_spec = name
        self.choices = tuple(choices)


class MissingSkill(NotFoundError):
    """A repository has no skill in a folder, or of a name; `trees` are the tree ids of its skills, by folder."""

    def __init__(self, message: str, *, hint: str, trees: Mapping[str, str]) -> None:
        super().__init__(message, hint=hint)
        self.trees = trees


def _list_reasons(errors: "Sequence[SkillpmError]") -> str:
    lines = [f"  {', '.join(error.skills)}: {_without_name(error)}" for error in errors[:MAX_REASONS_LISTED]]
    lines += [f"  and {len(errors) - MAX_REASONS_LISTED} more"] if len(errors) > MAX_REASONS_LISTED else []
    return "\n".join(lines)


def _without_name(error: SkillpmError) -> str:
    return error.message.removeprefix(f"skill {error.skills[0]}: ") if error.skills else error.message


class SeveralNotFound(NotFoundError):
    """Several skills do not exist, each for a reason of its own."""

    def __init__(self, errors: Sequence[NotFoundError]) -> None:
        names = [name for error in errors for name in error.skills]
        super().__init__(f"{len(names)} skills were not found\n{_list_reasons(errors)}", skills=names)
        self._errors = errors

    @property
    def parts(self) -> Sequence[SkillpmError]:
        """The errors, one for each reason."""
        return self._errors


class ConflictError(SkillpmError):
    """Two things need the same name, or no versions satisfy all requirements."""

    code = "conflict"


class DocumentChanged(ConflictError):
    """A document was saved by another program after the command had read it; nothing was changed."""

    def __init__(self, path: str) -> None:
        super().__init__(
            "the file kept changing while the command was running; nothing was changed",
            where=path,
            hint="run the command again when no other program writes to the file",
        )


class BlockedError(SkillpmError):
    """A change would overwrite local changes to skills; nothing was changed."""

    code = "modified"


class LockfileOutdated(SkillpmError):
    """The lockfile does not satisfy the manifest, and may not be updated."""

    code = "lockfile-outdated"


ACCEPT_HINT = "nothing was changed; to accept the new content, run"
CHECK_LOCK_HINT = "nothing was changed; check the history of skills.lock in version control, and restore it"
# A commit never changes: where its content does not match, the lockfile must have been edited.
EDITED_LOCK_HINT = f"{CHECK_LOCK_HINT}, or lock the current content with"


class DigestMismatch(SkillpmError):
    """The content of a skill does not match the lockfile.

    `locked` and `actual` are abbreviated for the message; `key` is the key in the lockfile that holds the digest, and
    `advice` introduces the command that accepts the new content.
    """

    code = "digest-mismatch"

    def __init__(
        self, name: str, *, locked: str, actual: str, origin: str, key: str = "digest", advice: str = ACCEPT_HINT
    ) -> None:
        super().__init__(
            f"`{name}` from {origin} does not match the lockfile: expected {locked}, got {actual}",
            where=f"skills.lock: skills.{name}.{key}",
            hint=f"{advice} `skillpm update {name}`",
            skills=[name],
        )
        self.name = name
        self.key = key
        self.advice = advice

    def make_hint(self, names: str, scope_flag: str) -> str:
        """Return the hint with the command that accepts the new content of these skills, if there is one."""
        return f"{self.advice} `skillpm update{scope_flag} {names}`" if self.advice else self.hint

    def in_scope(self, lockfile: str, scope_flag: str) -> "DigestMismatch":
        """Name the lockfile, and in the hint the scope."""
        self.where = f"{lockfile}: skills.{self.name}.{self.key}"
        self.hint = self.make_hint(self.name, scope_flag)
        return self


class DigestMismatches(DigestMismatch):
    """The content of several skills does not match the lockfile; the first ten are listed."""

    MAX_LISTED = 10

    def __init__(self, mismatches: "Sequence[DigestMismatch]") -> None:
        names = [error.name for error in mismatches]
        lines = [f"  {error.message}" for error in mismatches[: self.MAX_LISTED]]
        lines += [f"  and {len(names) - self.MAX_LISTED} more"] if len(names) > self.MAX_LISTED else []
        message = f"{len(names)} skills do not match the lockfile\n" + "\n".join(lines)
        SkillpmError.__init__(self, message, where="skills.lock", hint=CHECK_LOCK_HINT, skills=names)
        self.name = names[0]
        self.mismatches = mismatches

    def in_scope(self, lockfile: str, scope_flag: str) -> "DigestMismatch":
        """Name the lockfile, and in the hint the scope."""
        self.where = lockfile
        names = " ".join(error.name for error in self.mismatches[: self.MAX_LISTED])
        hints = {error.make_hint(names, scope_flag) for error in self.mismatches}
        self.hint = hints.pop() if len(hints) == 1 else CHECK_LOCK_HINT
        return self


class RefusedError(SkillpmError):
    """A skill breaks a rule for what may be installed (a link to outside, an invalid name, too large)."""

    code = "refused"


class SeveralRefused(RefusedError):
    """Several skills may not be installed, each for a reason of its own."""

    def __init__(self, errors: Sequence[RefusedError]) -> None:
        names = [name for error in errors for name in error.skills]
        hints = dict.fromkeys(error.hint for error in errors if error.hint)
        super().__init__(
            f"{len(names)} skills cannot be installed\n{_list_reasons(errors)}",
            hint=next(iter(hints), ""),
            skills=names,
        )
        self._errors = errors

    @property
    def parts(self) -> Sequence[SkillpmError]:
        """The errors, one for each reason."""
        return self._errors


class NotTrusted(SkillpmError):
    """The content of skills may not be installed or loaded: audit, reviews, signatures or policy refuse it.

    Each problem is a JSON object with `skill`, `kind`, `rule`, `message`, `where` and `hint`.
    """

    code = "not-trusted"

    def __init__(
        self, message: str, *, hint: str = "", where: str = "", problems: Sequence[Mapping[str, str]] = ()
    ) -> None:
        super().__init__(message, where=where, hint=hint, skills=[*dict.fromkeys(each["skill"] for each in problems)])
        self.problems = problems

    @property
    def details(self) -> Mapping[str, Any]:
        """The problems, each with its skill and rule."""
        return {"problems": [*self.problems]}


class SignatureError(SkillpmError):
    """A signature is missing, invalid, or of a signer that is not trusted; or a key cannot sign.

    `is_mismatch`: the files of a skill are not those that were signed, regardless of the signer.
    """

    code = "signature"

    def __init__(
        self, message: str, *, where: str = "", hint: str = "", skills: Sequence[str] = (), is_mismatch: bool = False
    ) -> None:
        super().__init__(message, where=where, hint=hint, skills=skills)
        self.is_mismatch = is_mismatch


class NotAllowedError(SkillpmError):
    """Permissions deny a skill, or require confirmation."""

    code = "not-allowed"


class FetchError(SkillpmError):
    """A request to a server, or a git command, failed."""

    code = "fetch"


class WebPageError(FetchError):
    """A page for people in place of a document: of a login, of a portal, or of a site without the document."""


class OfflineError(SkillpmError):
    """Content is not cached, and the network is disabled; lists everything that is missing."""

    code = "offline"

    def __init__(self, missing: Sequence[str], *, reason: str = "not cached", skills: Sequence[str] = ()) -> None:
        super().__init__(
            f"{reason}, and the network is disabled: " + ", ".join(missing),
            hint="run the same command once without --offline",
            skills=skills,
        )
        self.missing = tuple(missing)


class NotMirroredError(OfflineError):
    """Content is neither cached nor in the mirrors that replace its origin; lists everything that is missing."""

    code = "not-mirrored"

    def __init__(self, missing: Sequence[str], mirrors: str, *, skills: Sequence[str] = ()) -> None:
        SkillpmError.__init__(
            self,
            f"not in the mirror {mirrors}, which replaces all origins: {', '.join(missing)}",
            hint="run the command where the origins can be reached, then copy with `skillpm mirror skills.lock MIRROR`",
            skills=skills,
        )
        self.missing = tuple(missing)


class BusyError(SkillpmError):
    """Another skillpm did not release the lock in time."""

    code = "busy"


class ManySkillsError(SkillpmError):
    """A repository contains several skills and none is selected; each of `choices` is (name, path, description).

    `display_spec` is the SPEC without credentials, `example` the command that installs the first skill.
    """

    code = "choose"

    def __init__(self, spec: str, choices: Sequence[tuple[str, str, str]], *, display_spec: str, example: str) -> None:
        names = ", ".join(name for name, _, _ in choices[:MAX_NAMES_LISTED])
        more = f" and {len(choices) - MAX_NAMES_LISTED} more" if len(choices) > MAX_NAMES_LISTED else ""
        super().__init__(
            f"`{display_spec}` contains {len(choices)} skills: {names}{more}",
            hint=f"select one with `{example}`, or install all with `--all`",
        )
        self.spec = spec
        self.display_spec = display_spec
        self.example = example
        self.choices = tuple(choices)


class FileError(SkillpmError):
    """A file operation failed (no space, permission denied, read-only file system)."""

    code = "file"
