"""Compare the output that a page shows with the real output: equal, except that commit ids and digests may differ."""

import re

HEX = re.compile(r"(?<![\w-])(?=[a-f]*[0-9])[0-9a-f]{7,64}(?![\w-])|(?<=sha256:)[0-9a-f]{7,64}")
ELLIPSIS = "…"


class IdMap:
    """Which id of a page stands for which real one: the same one everywhere on the page."""

    def __init__(self) -> None:
        self._real: dict[str, str] = {}

    def match(self, shown: str, real: str) -> bool:
        """Return whether an id may stand for another; the first seven digits identify an id."""
        return self._real.setdefault(shown[:7], real[:7]) == real[:7]


def output_matches(shown: str, real: str, ids: IdMap) -> bool:
    """Return whether a page shows the real output; a line `…` is any lines, `…` at a line's end is its rest."""
    found_ids: list[str] = []
    pattern = ""
    for line in shown.splitlines():
        if line == ELLIPSIS:
            pattern += r"(?:.*\n)*?"
            continue
        text, end = (line[:-1], r".*\n") if line.endswith(ELLIPSIS) else (line, r"\n")
        pieces = HEX.split(text)
        found = HEX.findall(text)
        found_ids += found
        pattern += re.escape(pieces[0])
        for one, piece in zip(found, pieces[1:], strict=True):
            pattern += f"([0-9a-f]{{{len(one)}}})" + re.escape(piece)
        pattern += end
    match = re.fullmatch(pattern, real)
    return match is not None and all(ids.match(*pair) for pair in zip(found_ids, match.groups(), strict=True))
