"""What of a host's list of skills reaches the model. Pure."""

from collections.abc import Sequence

from skillpm.core.values import Value
from skillpm.formats.host_profile import ListingBudget


class ListedByHost(Value):
    """A skill in the list of a host, and how many characters of its description are in it."""

    name: str
    length: int
    shown: int

    @property
    def is_cut(self) -> bool:
        """Whether the model does not get the whole description."""
        return self.shown < self.length


def apply_listing_budget(skills: Sequence[tuple[str, str]], budget: ListingBudget) -> tuple[ListedByHost, ...]:
    """Return what a host shows of skills, each with name and description, in the host's order."""
    lengths = [min(len(description), budget.description) for _, description in skills]
    left = budget.total - sum(len(name) + budget.overhead for name, _ in skills)
    shown = lengths
    if sum(lengths) > left:
        shown = _keep_first(lengths, left) if budget.cut == "names" else _shorten_alike(lengths, left)
    return tuple(
        ListedByHost(name=name, length=len(description), shown=length)
        for (name, description), length in zip(skills, shown, strict=True)
    )


def _keep_first(lengths: Sequence[int], left: int) -> list[int]:
    shown = []
    for length in lengths:
        fits = length + len(": ") <= left
        shown.append(length if fits else 0)
        left -= length + len(": ") if fits else 0
    return shown


def _shorten_alike(lengths: Sequence[int], left: int) -> list[int]:
    low, high = 0, max(lengths, default=0)
    while low < high:
        middle = (low + high + 1) // 2
        if sum(min(length, middle) for length in lengths) <= left:
            low = middle
        else:
            high = middle - 1
    return [min(length, low) for length in lengths]
