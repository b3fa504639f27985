"""`new`: start a skill that is valid from its first line."""

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
    """Write a skill's folder; give the files made. Raises `ConflictError` where something of that name is there."""
    checked = parse_skill_name(name)
    path = os.path.join(context.settings.working_directory, parent, checked)
    if os.path.lexists(path):
        raise ConflictError(f"{path} is there already", hint="choose another name, or edit what is there")
    words = checked.replace("-", " ")
    text = TEMPLATE.format(name=checked, description=PLACEHOLDER, title=words.capitalize(), words=words)
    file = os.path.join(path, "SKILL.md")
    with translate_os_errors("start a skill", path):
        os.makedirs(path)
        write_new_file(file, text.encode(), 0o644, fsync=context.settings.fsync)
    return [file]
