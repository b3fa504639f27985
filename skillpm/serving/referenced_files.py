"""Which of the files that a body speaks of there are: those inside the skill, and no other. Pure."""

from collections.abc import Collection

from skillpm.skillmd.body_references import find_file_references


def find_referenced_files(body: str, files: Collection[str]) -> tuple[str, ...]:
    """Give the file references that are files of the skill; `files` are its paths. What leads out is no reference."""
    found = (reference.removeprefix("./") for reference in find_file_references(body))
    return tuple(path for path in dict.fromkeys(found) if path in files)
