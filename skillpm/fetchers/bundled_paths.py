"""Location and names of the bundled skills: `skillpm/_bundled` in a wheel, `bundled` beside it in a checkout."""

import os

from skillpm.core.names import SkillName

PACKAGE_DIR = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def bundled_folder() -> str:
    """Return the folder of bundled skills, in a wheel or in a checkout."""
    inside = os.path.join(PACKAGE_DIR, "_bundled")
    return inside if os.path.isdir(inside) else os.path.join(os.path.dirname(PACKAGE_DIR), "bundled")


def bundled_names() -> tuple[SkillName, ...]:
    """Return the names of all bundled skills, sorted."""
    return tuple(SkillName(name) for name in sorted(os.listdir(bundled_folder())) if not name.startswith((".", "_")))
