"""`new`: create a skill from a template that passes validation."""

import json
import os

from skillpm.core.names import parse_skill_name
from skillpm.directories import hold_folders, make_folders
from skillpm.errors import ConflictError, UsageError
from skillpm.files import translate_os_errors, write_new_file
from skillpm.scope.project import Session
from skillpm.skillmd.validation import PLACEHOLDER, validate_skill

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

{pointers}## Checks before you are done

- …
"""
REFERENCE_POINTER = "For details that are only sometimes needed, read [the details](references/details.md).\n\n"
SCRIPT_POINTER = "Run `python3 scripts/check.py` to check the result.\n\n"
REFERENCE = "# Details\n\nWhat the agent needs in special cases only. It is read when the skill says so.\n"
SCRIPT = '''\
#!/usr/bin/env python3
"""Check the result. The agent reads what is printed; the exit code says whether all is well."""

import sys

problems: list[str] = []
print("\\n".join(problems) or "no problems found")
sys.exit(1 if problems else 0)
'''


def create_skill(
    session: Session,
    name: str,
    parent: str = "",
    *,
    description: str = "",
    with_references: bool = False,
    with_scripts: bool = False,
) -> list[str]:
    """Create a skill's folder and return the files written.

    Raises `ConflictError` if the path exists, and `UsageError` for a description that is not valid.
    """
    skill_name = parse_skill_name(name)
    path = os.path.join(session.settings.working_directory, parent, skill_name)
    if os.path.lexists(path):
        raise ConflictError(f"{path} already exists", hint="choose another name, or edit the existing skill")
    words = skill_name.replace("-", " ")
    pointers = REFERENCE_POINTER * with_references + SCRIPT_POINTER * with_scripts
    shown = json.dumps(description, ensure_ascii=False) if description else PLACEHOLDER  # JSON text is YAML text
    text = TEMPLATE.format(name=skill_name, description=shown, title=words.capitalize(), words=words, pointers=pointers)
    _check_description(text.encode(errors="surrogateescape"), skill_name)
    files = {"SKILL.md": (text, 0o644)}
    if with_references:
        files["references/details.md"] = REFERENCE, 0o644
    if with_scripts:
        files["scripts/check.py"] = SCRIPT, 0o755
    with translate_os_errors("create a skill", path), hold_folders([os.path.dirname(path)]):
        for inside, (content, mode) in files.items():
            file = os.path.join(path, inside)
            make_folders(os.path.dirname(file))
            write_new_file(file, content.encode(), mode, fsync=session.settings.fsync)
    return [os.path.join(path, inside) for inside in files]


def _check_description(text: bytes, name: str) -> None:
    findings = validate_skill(text, name, []).findings
    if problem := next((finding.message for finding in findings if finding.level == "error"), ""):
        raise UsageError(f"the description cannot be used: {problem}", hint="nothing was written")
