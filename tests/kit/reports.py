"""What tests recorded with `record_property`, for the tables at the end of a run."""

from typing import Any


def recorded_properties(terminalreporter: Any) -> list[tuple[str, Any]]:
    """Return the names and values that all tests recorded, in the order of the reports."""
    return [
        pair
        for outcome in ("passed", "failed")
        for report in terminalreporter.getreports(outcome)
        for pair in getattr(report, "user_properties", ())
    ]
