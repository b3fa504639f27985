"""`new`: create a skill from a template that passes validation."""

import os

from skillpm.core.names import parse_skill_name
from skillpm.errors import ConflictError
from skillpm.files import translate_os_errors, write_new_file
from skillpm.operations.context.runtime import Context
from skillpm.skillmd.validation import PLACEHOLDER

TEMPLATE = """\
---
name: {name}
description: {description}
license: MIT
metadata:
  version: "0.1.0"
  category: general
  triggers: "{words}"
---
# {title}

Say what the agent should achieve, then how, step by step.

1. First, look at …
2. Then …
3. Finish by …

## Checks before you are done

- …
"""


def create_skill(context: Context, name: str, parent: str = "") -> list[str]:
    """Create a skill's folder and return the files written. Raises `ConflictError` if the path exists."""
    skill_name = parse_skill_name(name)
    path = os.path.join(context.settings.working_directory, parent, skill_name)
    if os.path.lexists(path):
        raise ConflictError(f"{path} already exists", hint="choose another name, or edit the existing skill")
    words = skill_name.replace("-", " ")
    text = TEMPLATE.format(name=skill_name, description=PLACEHOLDER, title=words.capitalize(), words=words)
    file = os.path.join(path, "SKILL.md")
    with translate_os_errors("create a skill", path):
        os.makedirs(path)
        write_new_file(file, text.encode(), 0o644, fsync=context.settings.fsync)
    return [file]
