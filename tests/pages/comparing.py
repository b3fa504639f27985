"""What a page says beside what really came: the same, but for ids, which are others with other content."""

import re

HEX = re.compile(r"(?<![\w-])(?=[a-f]*[0-9])[0-9a-f]{7,64}(?![\w-])|(?<=sha256:)[0-9a-f]{7,64}")
ELLIPSIS = "…"


class Names:
    """Which id of a page stands for which real one; each for one, wherever it stands."""

    def __init__(self) -> None:
        self._real: dict[str, str] = {}

    def agree(self, said: str, real: str) -> bool:
        """Tell whether an id may stand for another: seven digits name an id."""
        return self._real.setdefault(said[:7], real[:7]) == real[:7]


def fits(said: str, real: str, names: Names) -> bool:
    """Tell whether a page says what came. A line `…` stands for any lines, `…` at a line's end for its rest."""
    ids: list[str] = []

    pattern = ""
    for line in said.splitlines():
        if line == ELLIPSIS:
            pattern += r"(?:.*\n)*?"
            continue
        whole, rest = (line[:-1], r".*\n") if line.endswith(ELLIPSIS) else (line, r"\n")
        pieces = HEX.split(whole)
        found = HEX.findall(whole)
        ids += found
        pattern += re.escape(pieces[0])
        for one, piece in zip(found, pieces[1:], strict=True):
            pattern += f"([0-9a-f]{{{len(one)}}})" + re.escape(piece)
        pattern += rest
    match = re.fullmatch(pattern, real)
    return match is not None and all(names.agree(one, other) for one, other in zip(ids, match.groups(), strict=True))
