"""Where the skills that ship with the tool lie, and their names: in the wheel as `skillpm/_bundled`, in a checkout
beside the package.
"""

import os

from skillpm.core.names import SkillName

PACKAGE_DIR = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def bundled_folder() -> str:
    """Give the folder of bundled skills, in either kind of install."""
    inside = os.path.join(PACKAGE_DIR, "_bundled")
    return inside if os.path.isdir(inside) else os.path.join(os.path.dirname(PACKAGE_DIR), "bundled")


def bundled_names() -> tuple[SkillName, ...]:
    """Give the names of all bundled skills, sorted."""
    return tuple(SkillName(name) for name in sorted(os.listdir(bundled_folder())) if not name.startswith((".", "_")))
