"""What the building of an index came to."""

from skillpm.values import Value


class LeftOut(Value):
    """Something that a source has and that was not published: a skill's name, where it stands, and why."""

    name: str
    where: str
    why: str


class Built(Value):
    """What a build did: the versions that are new, the files that were written, what was not published."""

    skills: int
    versions: int
    added: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
