"""Path templates in the host tables: `~`, `$XDG`, `$VARIABLE`, and home folders that a variable relocates."""

import os

from skillpm.fetchers.bundled_paths import bundled_folder
from skillpm.files import is_below
from skillpm.settings import Settings


def expand_template(template: str, settings: Settings, *, home: str = "", env: str = "") -> str:
    """Return the path of a template; empty if it uses a variable that is not set.

    If the variable `env` is set, it replaces the folder `home` (also a template) in the path.
    """
    relocated = settings.environ.get(env, "") if env and home else ""
    if relocated and is_below(template, home):
        return relocated + template[len(home) :]
    if template == "~" or template.startswith("~/"):
        return settings.home + template[1:]
    if not template.startswith("$"):
        return template
    name, _, rest = template[1:].partition("/")
    base = _resolve_prefix(name, settings)
    return os.path.join(base, rest) if base and rest else base


def abbreviate_home(path: str, settings: Settings) -> str:
    """Return a path with `~` for the home folder."""
    return "~" + path[len(settings.home) :] if is_below(path, settings.home) else path


def _resolve_prefix(name: str, settings: Settings) -> str:
    match name:
        case "XDG":
            return settings.environ.get("XDG_CONFIG_HOME") or os.path.join(settings.home, ".config")
        case "SKILLS_HOME":
            return settings.skills_home
        case "BUNDLED":
            return bundled_folder()
        case _:
            return settings.environ.get(name, "")
