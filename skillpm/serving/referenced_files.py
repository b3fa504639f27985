"""Find the files of a skill that its body refers to. Pure."""

from collections.abc import Collection

from skillpm.skillmd.body_references import find_file_references


def find_referenced_files(body: str, files: Collection[str]) -> tuple[str, ...]:
    """Return the references that name one of the skill's own files (`files`), in the order of the body."""
    references = (reference.removeprefix("./") for reference in find_file_references(body))
    return tuple(path for path in dict.fromkeys(references) if path in files)
