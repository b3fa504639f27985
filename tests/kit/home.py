"""A home of its own for the code that tests run in their process: none touches the cache of the user who runs them."""

import os
import sys
import tempfile
from typing import Any

REAL_CACHE = os.path.join(os.path.expanduser("~"), ".cache", "skillpm", "")


def leave_home_alone() -> str:
    """Give code that tests run in this process, or in one that inherits its variables, a home of its own; return it."""
    home = tempfile.mkdtemp(prefix="skillpm-tests-home-")
    own = {"SKILLPM_HOME", "SKILLPM_CACHE_DIR", "SKILLPM_CONFIG_DIR"}
    for name in [name for name in os.environ if name in own or name.startswith("XDG_")]:
        del os.environ[name]
    os.environ["HOME"] = home
    sys.addaudithook(_refuse_real_cache)
    return home


def _refuse_real_cache(event: str, arguments: tuple[Any, ...]) -> None:
    """Fail the test that uses the cache of the user who runs the tests."""
    if event in {"open", "os.mkdir", "os.rename", "os.remove"} and str(arguments[0]).startswith(REAL_CACHE):
        raise AssertionError(f"a test uses {arguments[0]}")
