"""What the kill sweep and the crowds did, told after the tests."""

from typing import Any


def pytest_terminal_summary(terminalreporter: Any) -> None:
    told = [
        pair
        for outcome in ("passed", "failed")
        for report in terminalreporter.getreports(outcome)
        for pair in getattr(report, "user_properties", ())
    ]
    for line in [line for key, line in told if key == "crowd"]:
        terminalreporter.write_line(f"crowd, {line}")
    rows = [row for key, row in told if key == "kills"]
    if not rows:
        return
    rows = sorted(rows)
    total = ["all", *(sum(row[column] for row in rows) for column in (1, 2, 3))]
    terminalreporter.write_line("")
    terminalreporter.write_line(f"{'killed':32} {'changes':>8} {'kills':>6} {'violations':>11}")
    for name, changes, kills, violations in [*rows, total]:
        terminalreporter.write_line(f"{name:32} {changes:8} {kills:6} {violations:11}")
