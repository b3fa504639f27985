"""Check whether a skill's requirements are met here: programs, variables, operating system. Nothing is executed."""

import os
import shutil
import sys
from collections.abc import Mapping, Sequence

from skillpm.registry.card import Card

# Python's name of a system -> the names that authors use.
SYSTEM_ALIASES = {
    "linux": {"linux", "unix"},
    "darwin": {"darwin", "macos", "mac", "osx", "unix"},
    "win32": {"win32", "windows", "win"},
}


class Environment:
    """The programs, variables and system of a machine. Program lookups are cached. Threads may share it."""

    def __init__(self, environ: Mapping[str, str], system: str = sys.platform) -> None:
        self.environ = environ
        self.system = system
        self._programs: dict[str, bool] = {}

    def has_program(self, name: str) -> bool:
        """Return whether a program is on PATH."""
        is_there = self._programs.get(name)
        if is_there is None:
            # Without a path, `which` would fall back to the process's own PATH.
            path = shutil.which(name, path=self.environ.get("PATH") or os.devnull)
            self._programs[name] = is_there = path is not None
        return is_there

    def find_missing(self, card: Card) -> tuple[str, ...]:
        """Return a skill's unmet requirements: programs, `one of a, b`, `$VARIABLE`, and system names."""
        return self.find_unmet(card.requires, card.needs)

    def find_unmet(self, programs: Sequence[str], needs: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
        """Return the same for programs and other needs in the form of a registry entry."""
        missing = [name for name in programs if not self.has_program(name)]
        if needs:
            choice, systems = needs.get("anyBins", ()), needs.get("os", ())
            if choice and not any(self.has_program(name) for name in choice):
                missing.append(f"one of {', '.join(choice)}")
            missing += [f"${name}" for name in needs.get("env", ()) if not self.environ.get(name)]
            if systems and not self._is_one_of(*systems):
                missing.append(" or ".join(systems))
        return tuple(missing)

    def clear_cache(self) -> None:
        """Forget the program lookups, for example because programs were installed since."""
        self._programs.clear()

    def _is_one_of(self, *systems: str) -> bool:
        known = SYSTEM_ALIASES.get(self.system, {self.system})
        return any(system.casefold() in known or system == "*" for system in systems)
