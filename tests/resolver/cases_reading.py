"""Resolver cases in data files: an index, the requirements, and the lockfile before."""

from typing import Any

from resolver.catalogue import Catalogue, answer

from skillpm.formats.lockfile import Lockfile


def run(case: dict[str, Any]) -> dict[str, str] | str:
    """Resolve a case; return the version of each name, or the whole error."""
    locked = Lockfile()
    if "locked" in case:
        earlier = Catalogue(case.get("history", {}) or case["index"])
        known = {name: "*" if isinstance(wanted, str) else wanted for name, wanted in case["asked"].items()}
        known = {name: wanted for name, wanted in known.items() if name in case["locked"]}
        locked = earlier.lockfile(known, case["locked"])
    more = {key: case[key] for key in ("overrides", "upgrade", "exclude-newer") if key in case}
    found = answer(Catalogue(case["index"]), case["asked"], locked, **more)
    if isinstance(found, dict):
        return dict(sorted(found.items()))
    where = f"\nwhere: {found.where}" if found.where else ""
    return f"{found.code}: {found.message}{where}\nhint: {found.hint}"
