"""`edits`: what happens to local edits of a skill when there is other content for it (docs/formats.md)."""

from collections.abc import Mapping
from typing import Literal, cast, get_args

from skillpm.core.json_text.decoder import JsonNode, read_by_name
from skillpm.core.names import SkillName
from skillpm.core.values import EMPTY_MAPPING, Value

EditMode = Literal["block", "merge", "keep"]
EDIT_MODES = get_args(EditMode)
ALL_SKILLS = "*"


class EditPolicy(Value):
    """What happens to local edits: they block the change, are merged into the new content, or stay as they are."""

    by_name: Mapping[SkillName, EditMode] = EMPTY_MAPPING
    # For all others; None leaves them to the next policy.
    default: EditMode | None = None

    def find_mode(self, name: SkillName) -> EditMode:
        """Return the mode of a skill."""
        return self.by_name.get(name) or self.default or "block"

    def over(self, other: "EditPolicy") -> "EditPolicy":
        """Return this policy, completed by another one for skills of which this one says nothing."""
        by_name = {} if self.default else other.by_name
        return EditPolicy(by_name={**by_name, **self.by_name}, default=self.default or other.default)


def read_edit_policy(node: JsonNode | None) -> EditPolicy:
    """Parse `{"*": "merge", "deploy": "keep"}`. Raises `DocumentError` with the invalid key."""
    if node is None:
        return EditPolicy()
    default = node.get(ALL_SKILLS)
    named = node.with_value({key: value for key, value in node.value.items() if key != ALL_SKILLS})
    return EditPolicy(by_name=read_by_name(named, _read_mode), default=None if default is None else _read_mode(default))


def _read_mode(node: JsonNode) -> EditMode:
    if node.value not in EDIT_MODES:
        node.raise_expected("block, merge or keep")
    return cast("EditMode", node.value)
