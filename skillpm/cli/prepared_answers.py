"""Answers that an earlier run prepared: what it printed, with the stats of all files that this depends on (ADR 30).

`list`, and `sync` with nothing to do, print the same until a file changes. So a run that changed nothing writes to the
cache what it printed, and the size, mtime, ctime and inode of each file and folder that it read. The next run only
compares these numbers, before anything else is imported. Answers are in the user's cache, since a checkout could bring
its own.
"""

import os
import stat
import sys
import time
from collections.abc import Iterable, Sequence

from skillpm import __version__

# The commands that may be answered, with the only arguments they may have.
ANSWERED = {
    "list": {"--json", "--tokens", "--all", "-g", "--global", "-q", "--quiet", "--no-color"},
    "sync": {"--frozen", "--locked", "--offline", "--json", "-g", "--global", "-q", "--quiet", "--no-color"},
}
FORMAT = "1"
SLOT_COUNT = 1021  # files in the cache; two answers with the same slot replace each other
MAX_SIZE = 1 << 26
MISSING = "-"
END = "end"  # missing if the file was cut off by a power failure
# Variables that may change what these commands print. Those of an index may hold a login: nothing is prepared then.
VARIABLES = {"HOME", "CI", "COLUMNS", "LINES", "TERM", "LANG", "LANGUAGE", "TZ"}
VARIABLES |= {"NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE"}
VARIABLE_PREFIXES = ("SKILLPM_", "XDG_", "LC_", "PYTHON")
VARIABLE_SUFFIXES = ("_HOME", "_DIR", "_FOLDER")
INDEX_VARIABLE_PREFIX = "SKILLPM_INDEX_"


class Preparation:
    """The answer that this run may prepare: its key, its file, and when the run began (nanoseconds since 1970)."""

    def __init__(self, key: str, folder: str) -> None:
        self.key = key
        self.folder = folder
        self.started = time.time_ns()

    @property
    def path(self) -> str:
        """The file of the answer."""
        return os.path.join(self.folder, f"{int.from_bytes(os.fsencode(self.key)) % SLOT_COUNT:04}")


_preparation: Preparation | None = None


def current_preparation() -> Preparation | None:
    """Return the answer that this run may prepare, if it is one of `ANSWERED`."""
    return _preparation


def print_answer(arguments: Sequence[str]) -> bool:
    """Print the prepared answer of a command line; return False if there is none, or if a file has changed."""
    global _preparation  # noqa: PLW0603  (there is one process, and so one answer)
    if arguments == ["--version"]:
        return _write([(1, f"skillpm {__version__}\n")])
    key, folder = _read_key(arguments), _answers_folder()
    _preparation = Preparation(key, folder) if key and folder and not _is_in_checkout(folder) else None
    if _preparation is None:
        return False
    parts = _read_parts(_preparation.path)
    if parts[:2] != [FORMAT, _preparation.key] or parts[-1] != END:
        return False
    count = int(parts[2])  # the file is whole, and of this user
    paths, stats, texts = parts[3 : 3 + count], parts[3 + count : 3 + 2 * count], parts[3 + 2 * count : -1]
    if not all(map(_is_unchanged, paths, stats)):
        return False
    if "--json" in arguments:
        from skillpm.cli.interrupts import begin_output  # noqa: PLC0415  (only with --json)

        begin_output()
    return _write([(int(text[0]), text[1:]) for text in texts])


def format_answer(key: str, stats: Iterable[tuple[str, str]], texts: Sequence[tuple[int, str]]) -> str:
    """Return the document of an answer: the stats of paths, and the texts with the descriptors they go to."""
    pairs = list(stats)
    columns = [path for path, _ in pairs], [value for _, value in pairs]
    printed = (f"{descriptor}{text}" for descriptor, text in texts)
    return "\0".join([FORMAT, key, str(len(pairs)), *columns[0], *columns[1], *printed, END])


def format_target(state: os.stat_result) -> str:
    """Return the four numbers of what a link leads to."""
    return f">{format_stat(state)}"


def format_stat(state: os.stat_result) -> str:
    """Return the four numbers by which an unchanged file or folder is recognized (ADR 7)."""
    return f"{state.st_size} {state.st_mtime_ns} {state.st_ctime_ns} {state.st_ino}"


def format_identity(state: os.stat_result) -> str:
    """Return what identifies a folder whose content does not matter."""
    return f"={state.st_mode} {state.st_uid} {state.st_dev} {state.st_ino}"


def _is_unchanged(path: str, expected: str) -> bool:
    try:
        if expected[0] == ">":
            return format_target(os.stat(path)) == expected
        state = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return expected == MISSING
    except OSError:
        return False
    return (format_identity(state) if expected[0] == "=" else format_stat(state)) == expected


def _read_key(arguments: Sequence[str]) -> str:
    """Return everything but files that decides what a command prints; empty for one that is not answered."""
    if not arguments or not ANSWERED.get(arguments[0], set()).issuperset(arguments[1:]) or arguments[0] not in ANSWERED:
        return ""
    names = [name for name in os.environ if _matters(name)]
    has_login = any(name.startswith(INDEX_VARIABLE_PREFIX) for name in names)
    if has_login or not hasattr(os, "geteuid") or sys.getfilesystemencoding() != "utf-8":
        return ""
    try:
        here, package = os.getcwd(), os.stat(__file__)
        streams = [(stream.isatty(), stream.fileno()) for stream in (sys.stdout, sys.stderr)]
        sizes = [os.get_terminal_size(number) if is_terminal else None for is_terminal, number in streams]
    except (OSError, ValueError, AttributeError):  # no such folder any more, or a stream is closed
        return ""
    variables = [f"{name}={os.environ[name]}" for name in sorted(names)]
    process = [__version__, __file__, format_stat(package), sys.prefix, str(os.geteuid()), here, str(sizes)]
    return "\n".join([*process, *arguments, *variables])


def _matters(name: str) -> bool:
    return name in VARIABLES or name.startswith(VARIABLE_PREFIXES) or name.endswith(VARIABLE_SUFFIXES)


def _answers_folder() -> str:
    """Return where answers are, as `Settings.cache_dir` has it in the usual cases; empty in the others."""
    home, chosen, base = (os.environ.get(name, "") for name in ("HOME", "SKILLPM_CACHE_DIR", "XDG_CACHE_HOME"))
    if not chosen:
        if sys.platform == "darwin":
            base = f"{home}/Library/Caches"
        chosen = f"{base if os.path.isabs(base) else f'{home}/.cache'}/skillpm"
    return f"{chosen}/v1/answers" if os.path.isabs(chosen) else ""


def _is_in_checkout(folder: str) -> bool:
    """Return whether a folder is below the working directory's repository, which could bring a forged answer."""
    root = here = os.getcwd()
    while not os.path.lexists(os.path.join(root, ".git")):
        if os.path.dirname(root) == root:
            root = here
            break
        root = os.path.dirname(root)
    return os.path.realpath(folder).startswith(os.path.join(os.path.realpath(root), ""))


def _read_parts(path: str) -> list[str]:
    """Read the parts of an answer; empty if it is missing, or not a file of this user alone."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        try:
            state = os.fstat(descriptor)
            is_own = hasattr(os, "geteuid") and state.st_uid == os.geteuid()
            if not is_own or not stat.S_ISREG(state.st_mode) or state.st_mode & 0o022:
                return []
            data = os.read(descriptor, MAX_SIZE)
        finally:
            os.close(descriptor)
    except OSError:
        return []
    return os.fsdecode(data).split("\0")


def _write(texts: Sequence[tuple[int, str]]) -> bool:
    """Write texts to stdout (1) and stderr (2). If that fails, the ordinary command reports why.

    Past the streams: they would keep what could not be written, and fail again.
    """
    try:
        for number, text in texts:
            stream = sys.stdout if number == 1 else sys.stderr
            data = memoryview(text.encode(stream.encoding, "backslashreplace"))
            while data:
                data = data[os.write(stream.fileno(), data) :]
    except (OSError, ValueError, AttributeError):
        return False
    return True
