"""The files that lie beside a SKILL.md, by name: an agent is told of them and reads them itself."""

import os
from itertools import islice

from skillpm.documents.names import SKILL_FILES
from skillpm.installing.survey import walk_files
from skillpm.serving.cards import Card

MOST_LOOKED_AT = 5_000


def files_beside(card: Card) -> tuple[str, ...]:
    """Give the paths of a skill's other files, sorted; none for a flat file of an old registry."""
    if os.path.basename(card.location) not in SKILL_FILES:
        return ()
    try:
        found = [path for path, _ in islice(walk_files(card.folder), MOST_LOOKED_AT)]
    except OSError:
        return ()
    return tuple(sorted(path for path in found if path not in SKILL_FILES))
