"""Settings of the process: folders, switches, limits and environment, read once from environment and options.

No other module reads `os.environ`, so a test patches nothing: it constructs `Settings`.
"""

import os
import sys
import time
from collections.abc import Mapping, Sequence

from skillpm.core.exclude_newer import parse_cutoff
from skillpm.core.limits import Limits
from skillpm.core.text import sanitize
from skillpm.core.values import EMPTY_MAPPING, Value
from skillpm.errors import UsageError

CACHE_FORMAT = "v1"
# Only Windows has junctions.
# Systems with conventions of their own; all others follow the XDG Base Directory Specification.
HAS_SYSTEM_FOLDERS: bool = sys.platform in {"darwin", "win32"}
LINK_MODES = ("symlink", "copy", "junction") if sys.platform == "win32" else ("symlink", "copy")


class Settings(Value):
    """The environment in which a command runs. All folders are absolute; all times are in seconds."""

    home: str
    working_directory: str
    skills_home: str
    config_dir: str
    cache_dir: str
    # What skillpm remembers of its use, and cannot fetch again; empty to remember nothing.
    state_dir: str = ""
    offline: bool = False
    ci: bool = False
    insecure_hosts: tuple[str, ...] = ()
    lock_timeout: float = 60.0
    network_timeout: float = 300.0
    idle_timeout: float = 20.0
    fsync: bool = True
    link_mode: str = ""
    limits: Limits = Limits()
    # The policy of the machine, wherever its users have their configuration. Nothing in the environment moves it.
    machine_policy: str = ""
    # A further policy, which the environment adds.
    added_policy: str = ""
    # From the command line or the environment; the manifest and config.toml may set it, too.
    exclude_newer: str = ""
    # Seconds since 1970.
    now: float = 0.0
    # The options that select the current scope, for commands in the messages of code that knows no scope.
    scope_flag: str = ""
    # The caller's environment without `GIT_*`. Those are separate, since only some of them may reach a git process.
    environ: Mapping[str, str] = EMPTY_MAPPING
    git_environ: Mapping[str, str] = EMPTY_MAPPING

    def __repr__(self) -> str:
        """Omit the environment, which contains tokens."""
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
    """Return the settings from an environment and command-line options. Raises `UsageError` for an invalid value."""
    clock = time.time() if now is None else now
    home = _read_home(environ)
    skills_home = _read_folder(environ, "SKILLPM_HOME", home)
    return Settings(
        home=home,
        working_directory=_read_working_directory(),
        skills_home=skills_home or os.path.join(home, ".agent-skills"),
        config_dir=_config_dir(environ, home, skills_home),
        cache_dir=os.path.join(_cache_dir(environ, home), CACHE_FORMAT),
        state_dir=_state_dir(environ, home, skills_home),
        offline=offline or _read_flag(environ, "SKILLPM_OFFLINE"),
        ci=_read_flag(environ, "CI"),
        insecure_hosts=insecure_hosts,
        lock_timeout=_read_number(environ, "SKILLPM_LOCK_TIMEOUT", 60.0) if lock_timeout is None else lock_timeout,
        network_timeout=_read_number(environ, "SKILLPM_NETWORK_TIMEOUT", 300.0),
        idle_timeout=_read_number(environ, "SKILLPM_IDLE_TIMEOUT", 20.0),
        fsync=environ.get("SKILLPM_FSYNC", "1") not in {"0", "false", "no"},
        link_mode=_read_choice(environ, "SKILLPM_LINK_MODE", LINK_MODES),
        limits=_read_limits(environ),
        machine_policy=_machine_policy(),
        added_policy=_read_folder(environ, "SKILLPM_POLICY", home),
        exclude_newer=_read_exclude_newer(environ, exclude_newer, clock),
        now=clock,
        environ={key: value for key, value in environ.items() if not key.startswith("GIT_")},
        git_environ={key: value for key, value in environ.items() if key.startswith("GIT_")},
    )


def read_token(environ: Mapping[str, str], variable: str) -> str:
    """Return a token without surrounding whitespace, which is often that of a file; empty if it is not set.

    Raises `UsageError` for a text that no header can have.
    """
    token = environ.get(variable, "").strip()
    if token and not (token.isascii() and token.isprintable() and " " not in token):
        raise UsageError(
            f"{variable} is not a token: it has characters other than ASCII, or spaces or line breaks",
            hint="set it again; spaces around a token are ignored",
        )
    return token


def current_settings() -> Settings:
    """Return the settings of this process, for Python programs that use skillpm as a library."""
    return read_settings(os.environ)


def _read_home(environ: Mapping[str, str]) -> str:
    home = environ.get("HOME", "")
    if home and not os.path.isabs(home):
        # It would be a different folder for every working directory.
        raise UsageError(f"HOME={sanitize(home)} is not an absolute path", hint="set HOME to an absolute path")
    home = home or os.path.expanduser("~")
    # A container may run with an arbitrary user id that has no passwd entry; container engines set HOME to / then.
    return home if os.path.isabs(home) else os.path.abspath(os.sep)


def _read_working_directory() -> str:
    try:
        return os.getcwd()
    except OSError as error:
        raise UsageError("the working directory no longer exists", hint="change to another one: cd") from error


def _read_limits(environ: Mapping[str, str]) -> Limits:
    standard = Limits()
    return Limits(
        file=int(_read_number(environ, "SKILLPM_MAX_FILE", standard.file)),
        skill=int(_read_number(environ, "SKILLPM_MAX_SKILL", standard.skill)),
        files=int(_read_number(environ, "SKILLPM_MAX_FILES", standard.files)),
        skills=int(_read_number(environ, "SKILLPM_MAX_SKILLS", standard.skills)),
        download=int(_read_number(environ, "SKILLPM_MAX_DOWNLOAD", standard.download)),
        index=int(_read_number(environ, "SKILLPM_MAX_INDEX", standard.index)),
        releases=int(_read_number(environ, "SKILLPM_MAX_RELEASES", standard.releases)),
        catalog=int(_read_number(environ, "SKILLPM_MAX_CATALOG", standard.catalog)),
    )


def _read_exclude_newer(environ: Mapping[str, str], option: str | None, now: float) -> str:
    """Return the option, else the environment variable; validated here, where the error can name which it was."""
    text = environ.get("SKILLPM_EXCLUDE_NEWER", "") if option is None else option
    if text or option is not None:
        parse_cutoff(text, now, where="SKILLPM_EXCLUDE_NEWER" if option is None else "--exclude-newer")
    return text


def _config_dir(environ: Mapping[str, str], home: str, skills_home: str) -> str:
    if chosen := _read_folder(environ, "SKILLPM_CONFIG_DIR", home):
        return chosen
    if skills_home:
        # Otherwise two values of SKILLPM_HOME would share one user lockfile.
        return os.path.join(skills_home, ".skillpm")
    if HAS_SYSTEM_FOLDERS:
        from platformdirs import user_config_dir  # noqa: PLC0415  (10 ms that Linux saves)

        return user_config_dir("skillpm", appauthor=False)
    return os.path.join(_xdg_folder(environ, "XDG_CONFIG_HOME") or os.path.join(home, ".config"), "skillpm")


def _machine_policy() -> str:
    """Return the path of the machine's policy. Variables such as XDG_CONFIG_DIRS must not be able to switch it off."""
    if HAS_SYSTEM_FOLDERS:
        from platformdirs import site_config_dir  # noqa: PLC0415

        return os.path.join(site_config_dir("skillpm", appauthor=False), "policy.toml")
    return "/etc/skillpm/policy.toml"


def _cache_dir(environ: Mapping[str, str], home: str) -> str:
    if chosen := _read_folder(environ, "SKILLPM_CACHE_DIR", home):
        return chosen
    if HAS_SYSTEM_FOLDERS:
        from platformdirs import user_cache_dir  # noqa: PLC0415

        return user_cache_dir("skillpm", appauthor=False)
    return os.path.join(_xdg_folder(environ, "XDG_CACHE_HOME") or os.path.join(home, ".cache"), "skillpm")


def _state_dir(environ: Mapping[str, str], home: str, skills_home: str) -> str:
    if skills_home:  # as the configuration folder: two homes share nothing
        return os.path.join(skills_home, ".skillpm", "state")
    if HAS_SYSTEM_FOLDERS:
        from platformdirs import user_state_dir  # noqa: PLC0415

        return user_state_dir("skillpm", appauthor=False)
    return os.path.join(_xdg_folder(environ, "XDG_STATE_HOME") or os.path.join(home, ".local", "state"), "skillpm")


def _xdg_folder(environ: Mapping[str, str], name: str) -> str:
    """Return a folder of the XDG Base Directory Specification, which requires that relative paths are ignored."""
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
        raise UsageError(
            f"invalid value `{sanitize(text)}` for {name}", hint=f"unset it, or use one of {', '.join(allowed)}"
        )
    return text


def _read_number(environ: Mapping[str, str], name: str, default: float) -> float:
    text = environ.get(name, "")
    try:
        value = float(text) if text else float(default)
    except ValueError:
        value = -1
    if not 0 <= value < float("inf"):  # also rejects `nan`, which compares false
        raise UsageError(f"invalid number {name}={text}", hint=f"unset it, or use a number like {default:g}")
    return value
