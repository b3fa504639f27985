"""The tables of what the sweeps of forgeries did."""

from typing import Any

from kit.reports import recorded_properties


def pytest_terminal_summary(terminalreporter: Any) -> None:
    reported = recorded_properties(terminalreporter)
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
