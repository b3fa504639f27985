"""The libraries that publishing needs, and nothing else does."""

from importlib.util import find_spec

from skillpm.core.suggestions import extra_hint
from skillpm.errors import UsageError


def require_libraries() -> None:
    """Raise `UsageError` with how to install them unless the libraries of the extra `publish` are installed."""
    missing = [library for library in ("git", "jinja2", "nh3") if find_spec(library) is None]
    if missing:
        raise UsageError("publishing needs packages that are not installed", hint=extra_hint("publish"))
