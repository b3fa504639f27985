"""The tables of what the sweeps of forgeries did."""

from typing import Any


def pytest_terminal_summary(terminalreporter: Any) -> None:
    reported = [
        pair
        for outcome in ("passed", "failed")
        for report in terminalreporter.getreports(outcome)
        for pair in getattr(report, "user_properties", ())
    ]
    for title, key in (("forged state", "forgeries"), ("forged lockfile", "lock forgeries")):
        rows = sorted(row for name, row in reported if name == key)
        if not rows:
            continue
        columns = ("tried", "commands", "refused", "wrong")
        terminalreporter.write_line(
            f"\n{f'{title}, seed {rows[0][1]}':40}" + "".join(f"{name:>10}" for name in columns)
        )
        for place, _, *numbers in [*rows, ["all", 0, *(sum(row[at] for row in rows) for at in range(2, 6))]]:
            terminalreporter.write_line(f"{place:40}" + "".join(f"{number:10}" for number in numbers))
