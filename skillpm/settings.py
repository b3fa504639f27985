"""What the surroundings say, read once at the border: folders, switches, limits, the caller's environment.

Nothing below the command line looks at `os.environ`, so a test needs no patching: it makes a `Settings`.
"""

import os
import sys
import time
from collections.abc import Mapping, Sequence

from skillpm.core.exclude_newer import parse_cutoff
from skillpm.core.file_tree import Limits
from skillpm.core.text import sanitize
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.errors import UsageError

CACHE_FORMAT = "v1"
# Only Windows has junctions.
LINK_MODES = ("symlink", "copy", "junction") if sys.platform == "win32" else ("symlink", "copy")


class Settings(Value):
    """Everything a command has to know of its surroundings. All folders are absolute.

    `exclude_newer` is what the command line or the environment says of it; `now` are the seconds since 1970.

    `environ` is the caller's environment without `GIT_*`; those are kept apart in `git_environ`, since only chosen
    ones may reach a git process.
    """

    home: str
    working_directory: str
    skills_home: str
    config_dir: str
    cache_dir: str
    offline: bool = False
    ci: bool = False
    insecure_hosts: tuple[str, ...] = ()
    lock_timeout: float = 60.0
    network_timeout: float = 300.0
    idle_timeout: float = 20.0
    fsync: bool = True
    link_mode: str = ""
    limits: Limits = Limits()
    exclude_newer: str = ""
    now: float = 0.0
    environ: Mapping[str, str] = EMPTY_MAPPING
    git_environ: Mapping[str, str] = EMPTY_MAPPING

    def __repr__(self) -> str:
        """Hide the environment: it holds tokens."""
        return f"Settings(home={self.home!r}, cache_dir={self.cache_dir!r})"


def read_settings(
    environ: Mapping[str, str],
    *,
    offline: bool = False,
    insecure_hosts: tuple[str, ...] = (),
    lock_timeout: float | None = None,
    exclude_newer: str | None = None,
    now: float | None = None,
) -> Settings:
    """Make settings from an environment and the command line's options. Raises `UsageError` for a bad value."""
    clock = time.time() if now is None else now
    home = _read_home(environ)
    skills_home = _read_folder(environ, "SKILLPM_HOME", home)
    return Settings(
        home=home,
        working_directory=_read_working_directory(),
        skills_home=skills_home or os.path.join(home, ".agent-skills"),
        config_dir=_config_dir(environ, home, skills_home),
        cache_dir=os.path.join(_cache_dir(environ, home), CACHE_FORMAT),
        offline=offline or _read_flag(environ, "SKILLPM_OFFLINE"),
        ci=_read_flag(environ, "CI"),
        insecure_hosts=insecure_hosts,
        lock_timeout=_read_number(environ, "SKILLPM_LOCK_TIMEOUT", 60.0) if lock_timeout is None else lock_timeout,
        network_timeout=_read_number(environ, "SKILLPM_NETWORK_TIMEOUT", 300.0),
        idle_timeout=_read_number(environ, "SKILLPM_IDLE_TIMEOUT", 20.0),
        fsync=environ.get("SKILLPM_FSYNC", "1") not in {"0", "false", "no"},
        link_mode=_read_choice(environ, "SKILLPM_LINK_MODE", LINK_MODES),
        limits=_read_limits(environ),
        exclude_newer=_read_exclude_newer(environ, exclude_newer, clock),
        now=clock,
        environ={key: value for key, value in environ.items() if not key.startswith("GIT_")},
        git_environ={key: value for key, value in environ.items() if key.startswith("GIT_")},
    )


def current_settings() -> Settings:
    """Give the settings of this process, for Python programs that call skillpm."""
    return read_settings(os.environ)


def _read_home(environ: Mapping[str, str]) -> str:
    """Give the home folder: where nobody says and the system knows no such user (any number in a container), the root
    of everything, as container engines set it.
    """
    home = environ.get("HOME", "")
    if home and not os.path.isabs(home):
        # From each folder it would be another one.
        raise UsageError(f"HOME={sanitize(home)} is no whole path", hint="set HOME to the whole path of a folder")
    home = home or os.path.expanduser("~")
    return home if os.path.isabs(home) else os.path.abspath(os.sep)


def _read_working_directory() -> str:
    try:
        return os.getcwd()
    except OSError as error:
        raise UsageError("the folder you are in is not there any more", hint="go to another one: cd") from error


def _read_limits(environ: Mapping[str, str]) -> Limits:
    standard = Limits()
    return Limits(
        file=int(_read_number(environ, "SKILLPM_MAX_FILE", standard.file)),
        skill=int(_read_number(environ, "SKILLPM_MAX_SKILL", standard.skill)),
        files=int(_read_number(environ, "SKILLPM_MAX_FILES", standard.files)),
        download=int(_read_number(environ, "SKILLPM_MAX_DOWNLOAD", standard.download)),
        index=int(_read_number(environ, "SKILLPM_MAX_INDEX", standard.index)),
        catalog=int(_read_number(environ, "SKILLPM_MAX_CATALOGUE", standard.catalog)),
    )


def _read_exclude_newer(environ: Mapping[str, str], option: str | None, now: float) -> str:
    """Give what the command line says, else the environment: checked here, where it is still known who said it."""
    text = environ.get("SKILLPM_EXCLUDE_NEWER", "") if option is None else option
    if text or option is not None:
        parse_cutoff(text, now, where="SKILLPM_EXCLUDE_NEWER" if option is None else "--exclude-newer")
    return text


def _config_dir(environ: Mapping[str, str], home: str, skills_home: str) -> str:
    if chosen := _read_folder(environ, "SKILLPM_CONFIG_DIR", home):
        return chosen
    if skills_home:
        # Two homes must never share a lockfile.
        return os.path.join(skills_home, ".skillpm")
    if sys.platform in {"darwin", "win32"}:
        from platformdirs import user_config_dir  # noqa: PLC0415  (10 ms that Linux need not pay)

        return user_config_dir("skillpm", appauthor=False)
    return os.path.join(_xdg_folder(environ, "XDG_CONFIG_HOME") or os.path.join(home, ".config"), "skillpm")


def _cache_dir(environ: Mapping[str, str], home: str) -> str:
    if chosen := _read_folder(environ, "SKILLPM_CACHE_DIR", home):
        return chosen
    if sys.platform in {"darwin", "win32"}:
        from platformdirs import user_cache_dir  # noqa: PLC0415

        return user_cache_dir("skillpm", appauthor=False)
    return os.path.join(_xdg_folder(environ, "XDG_CACHE_HOME") or os.path.join(home, ".cache"), "skillpm")


def _xdg_folder(environ: Mapping[str, str], name: str) -> str:
    """Give a folder of the XDG Base Directory Specification, which says of a relative one that it does not count."""
    folder = environ.get(name, "")
    return folder if os.path.isabs(folder) else ""


def _read_folder(environ: Mapping[str, str], name: str, home: str) -> str:
    text = environ.get(name, "")
    if text == "~" or text.startswith("~/"):
        text = home + text[1:]
    return os.path.abspath(text) if text else ""


def _read_flag(environ: Mapping[str, str], name: str) -> bool:
    return environ.get(name, "").lower() in {"1", "true", "yes", "on"}


def _read_choice(environ: Mapping[str, str], name: str, allowed: Sequence[str]) -> str:
    text = environ.get(name, "")
    if text and text not in allowed:
        raise UsageError(f"{name}={text} means nothing", hint=f"unset it, or give one of {', '.join(allowed)}")
    return text


def _read_number(environ: Mapping[str, str], name: str, default: float) -> float:
    text = environ.get(name, "")
    try:
        value = float(text) if text else float(default)
    except ValueError:
        value = -1
    if not 0 <= value < float("inf"):  # `nan` is neither
        raise UsageError(f"{name}={text} is no number", hint=f"unset it, or give a number like {default:g}")
    return value
