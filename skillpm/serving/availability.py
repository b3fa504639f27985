"""Whether a skill can work here: programs on PATH, variables, the operating system. Looked at, never run."""

import os
import shutil
import sys
import threading
from collections.abc import Mapping

from skillpm.registry.card import Card

# What authors call the systems, by what Python calls them.
SYSTEM_ALIASES = {
    "linux": {"linux", "unix"},
    "darwin": {"darwin", "macos", "mac", "osx", "unix"},
    "win32": {"win32", "windows", "win"},
}


class Environment:
    """What this machine has. Answers about programs are kept until `forget`; safe from several threads."""

    def __init__(self, environ: Mapping[str, str], system: str = sys.platform) -> None:
        self.environ = environ
        self.system = system
        self._programs: dict[str, bool] = {}
        self._lock = threading.Lock()

    def has_program(self, name: str) -> bool:
        """Tell whether a program is on PATH."""
        with self._lock:
            if name not in self._programs:
                # An empty PATH means none; without `path=` the process's own would be asked.
                found = shutil.which(name, path=self.environ.get("PATH") or os.devnull)
                self._programs[name] = found is not None
            return self._programs[name]

    def find_missing(self, card: Card) -> tuple[str, ...]:
        """Give what a skill needs and is not here: programs, `one of a, b`, `$VARIABLE`, the names of systems."""
        missing = [name for name in card.requires if not self.has_program(name)]
        needs = card.needs
        if needs:
            choice, systems = needs.get("anyBins", ()), needs.get("os", ())
            if choice and not any(self.has_program(name) for name in choice):
                missing.append(f"one of {', '.join(choice)}")
            missing += [f"${name}" for name in needs.get("env", ()) if not self.environ.get(name)]
            if systems and not self._is_one_of(*systems):
                missing.append(" or ".join(systems))
        return tuple(missing)

    def clear_cache(self) -> None:
        """Look again from now on."""
        with self._lock:
            self._programs.clear()

    def _is_one_of(self, *systems: str) -> bool:
        known = SYSTEM_ALIASES.get(self.system, {self.system})
        return any(system.casefold() in known or system == "*" for system in systems)
