"""Events of the service for `logging`, under the name `skillpm`: what was loaded, not found, and refused.

Whoever configures `logging` has imported it. Otherwise there is nobody to tell, and commands start without it.
"""

import sys
from typing import Literal

LOGGER_NAME = "skillpm"


def log_event(level: Literal["info", "warning", "error"], message: str, *values: object) -> None:
    """Log an event if this process has imported `logging`."""
    logging = sys.modules.get("logging")
    if logging is not None:
        logger = logging.getLogger(LOGGER_NAME)
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())  # else `logging` prints warnings to stderr, unasked
        getattr(logger, level)(message, *values)
