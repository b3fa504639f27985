"""Everything that can go wrong and be told to a person.

An error is a small letter to the user: what happened (`message`), where (`where`: file, key, line) and what to
try (`hint`). `code` is a stable kebab-case word for programs (docs/errors.md lists them); `exit_code` is what the
process ends with.

    SkillpmError
    ├── UsageError            usage               2   the command was called in a way that cannot be meant
    ├── DocumentError         document                a manifest, lockfile, receipt, registry cannot be read
    │   └── NewerDocument     newer-format            ... because a newer skillpm wrote it
    ├── NotFoundError         not-found               a skill, ref, folder or repository is not there
    ├── ConflictError         conflict                two things want one name
    ├── BlockedError          modified                somebody's own work is in the way
    ├── LockfileOutdated      lockfile-outdated       the lockfile does not say what the manifest asks
    ├── DigestMismatch        digest-mismatch         the bytes that came are not the bytes that were locked
    ├── RefusedError          refused                 a skill that breaks the rules for what may be installed
    ├── NotAllowedError       not-allowed             permissions forbid a skill, or want a person asked first
    ├── FetchError            fetch                   a server or git did not give what was asked
    ├── OfflineError          offline                 not in the caches, and not allowed to ask
    ├── BusyError             busy                    another skillpm holds the lock
    ├── ManySkillsError       choose                  a repository of several skills, and none chosen
    └── FileError             file                    the file system said no
"""

from collections.abc import Sequence

MAX_NAMES_LISTED = 40


class SkillpmError(Exception):
    """The root: something did not work, and this says what, where and what to try."""

    code = "error"
    exit_code = 1

    def __init__(self, message: str, *, where: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.hint = hint


class UsageError(SkillpmError):
    """The command was called in a way that cannot be meant."""

    code = "usage"
    exit_code = 2


class DocumentError(SkillpmError):
    """A document of ours cannot be read; `where` is its file and key path."""

    code = "document"


class NewerDocument(DocumentError):
    """A document was written by a newer skillpm; refused rather than misread."""

    code = "newer-format"

    def __init__(self, where: str, *, document_format: object, supported_format: int) -> None:
        super().__init__(
            f"this is format {document_format}; this skillpm knows up to {supported_format}",
            where=where,
            hint="upgrade skillpm: pip install --upgrade agent-skillpm",
        )


class NotFoundError(SkillpmError):
    """A skill, a ref, a folder or a repository is not there."""

    code = "not-found"


class ConflictError(SkillpmError):
    """Two things want one name."""

    code = "conflict"


class DocumentChanged(ConflictError):
    """Somebody saved a document while a command was at work that had read it before; nothing was changed."""

    def __init__(self, path: str) -> None:
        super().__init__(
            "this document was changed again and again while the command was at work; nothing was changed",
            where=path,
            hint="run the command again when nobody writes there",
        )


class BlockedError(SkillpmError):
    """Somebody's own work is in the way of the skills called `names`; nothing was changed."""

    code = "modified"

    def __init__(self, message: str, *, where: str = "", hint: str = "", names: Sequence[str] = ()) -> None:
        super().__init__(message, where=where, hint=hint)
        self.names = names


class LockfileOutdated(SkillpmError):
    """The lockfile does not say what the manifest asks, and may not be changed."""

    code = "lockfile-outdated"


CHECK_LOCK_HINT = "nothing was changed; see in version control who changed skills.lock, and take it from there"


class DigestMismatch(SkillpmError):
    """The bytes that came are not the bytes that were locked. The digests are as they are to be shown; `key` is where
    the lockfile says what was locked.
    """

    code = "digest-mismatch"

    def __init__(self, name: str, *, locked: str, actual: str, origin: str, key: str = "digest") -> None:
        super().__init__(
            f"`{name}` from {origin} is not what was locked: found {actual}, locked {locked}",
            where=f"skills.lock: skills.{name}.{key}",
            hint=f"nothing was changed; if the new content is what you want, run `skillpm update {name}`",
        )
        self.name = name
        self.key = key

    def with_lockfile(self, lockfile: str) -> "DigestMismatch":
        """Say which lockfile it is."""
        self.where = f"{lockfile}: skills.{self.name}.{self.key}"
        return self


class DigestMismatches(DigestMismatch):
    """The bytes of several skills are not those that were locked: each is named, as far as that can be read."""

    MAX_LISTED = 10

    def __init__(self, mismatches: "Sequence[DigestMismatch]") -> None:
        names = [error.name for error in mismatches]
        lines = [f"  {error.message}" for error in mismatches[: self.MAX_LISTED]]
        lines += [f"  and {len(names) - self.MAX_LISTED} more"] if len(names) > self.MAX_LISTED else []
        message = f"{len(names)} skills are not what was locked\n" + "\n".join(lines)
        hints = {
            error.hint.replace(f"update {error.name}`", f"update {' '.join(names[: self.MAX_LISTED])}`")
            for error in mismatches
        }
        SkillpmError.__init__(
            self, message, where="skills.lock", hint=min(hints) if len(hints) == 1 else CHECK_LOCK_HINT
        )
        self.name = names[0]

    def with_lockfile(self, lockfile: str) -> "DigestMismatch":
        """Say which lockfile it is."""
        self.where = lockfile
        return self


class RefusedError(SkillpmError):
    """A skill breaks a rule for what may be installed (a link that leaves it, a bad name, too big)."""

    code = "refused"


class NotAllowedError(SkillpmError):
    """Permissions forbid a skill, or want a person to be asked first."""

    code = "not-allowed"


class FetchError(SkillpmError):
    """A server, or git, did not give what was asked."""

    code = "fetch"


class OfflineError(SkillpmError):
    """Something is not in the caches, and the network may not be asked; names all of it at once."""

    code = "offline"

    def __init__(self, missing: Sequence[str]) -> None:
        super().__init__(
            "not in the cache, and the network is switched off: " + ", ".join(missing),
            hint="run the same command once without --offline",
        )


class BusyError(SkillpmError):
    """Another skillpm holds the lock and did not finish in time."""

    code = "busy"


class ManySkillsError(SkillpmError):
    """A repository holds several skills and none was chosen; `offers` of `spec` are (name, path, description).

    `shown` is the SPEC as it may be shown, `example` what to type for the first of them.
    """

    code = "choose"

    def __init__(self, spec: str, skills: Sequence[tuple[str, str, str]], *, display_spec: str, example: str) -> None:
        names = ", ".join(name for name, _, _ in skills[:MAX_NAMES_LISTED])
        more = f" and {len(skills) - MAX_NAMES_LISTED} more" if len(skills) > MAX_NAMES_LISTED else ""
        super().__init__(
            f"`{display_spec}` holds {len(skills)} skills: {names}{more}",
            hint=f"choose one with `{example}`, or take all with `--all`",
        )
        self.spec = spec
        self.skills = tuple(skills)


class FileError(SkillpmError):
    """The file system said no (no space, no permission, read-only)."""

    code = "file"
