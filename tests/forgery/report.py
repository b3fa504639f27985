"""What a sweep of forgeries tried."""

from dataclasses import dataclass, field


@dataclass
class Report:
    """What was tried and what came of it."""

    forgeries: int = 0
    commands: int = 0
    refused: int = 0
    wrong: list[str] = field(default_factory=list)
