"""What a receipt inherited of skills, added to their registry entries. Pure, and light: every list goes this way."""

from collections.abc import Mapping

from skillpm.core.digest import content_hash
from skillpm.core.names import SkillName
from skillpm.core.system_requirements import Requires
from skillpm.formats.legacy_metadata import Inherited, joined, without
from skillpm.formats.receipt import Receipt
from skillpm.formats.registry import RegistryEntry, tidy

GENERAL = "general"  # the category where nothing says otherwise
NEEDED = {"anyBins": "any_bins", "env": "env", "os": "os"}  # what can be looked up on a machine, beside programs


def inheriting(entry: RegistryEntry, inherited: Inherited) -> RegistryEntry:
    """Give an entry with what was inherited added; it never takes the place of the skill's own, and twice is once."""
    own = entry["category"]
    requires = joined(_requires_of(entry), inherited.requires)
    more = RegistryEntry(
        category=inherited.category if own == GENERAL and inherited.category else own,
        description=entry["description"] or inherited.description,
        triggers=list(dict.fromkeys([*entry["triggers"], *inherited.triggers])),
        version=entry.get("version", "") or inherited.version,
        requires=list(requires.bins),
        needs=looked_up(requires),
        userOnly=entry.get("userOnly", False) or inherited.user_only,
    )
    return tidy({**entry, **more})


def looked_up(requires: Requires) -> dict[str, list[str]]:
    """Give what a skill needs beyond programs, as far as it can be looked up on a machine."""
    return {kind: list(words) for kind, field in NEEDED.items() if (words := getattr(requires, field))}


def _requires_of(entry: RegistryEntry) -> Requires:
    needs = entry.get("needs", {})
    fields = {field: tuple(needs.get(kind, ())) for kind, field in NEEDED.items()}
    return Requires(bins=tuple(entry.get("requires", ())), **fields)


def add_inherited(entries: dict[str, RegistryEntry], receipt: Receipt) -> None:
    """Let every entry inherit what the receipt has for it."""
    for name, inherited in receipt.inherited.items():
        if name in entries:
            entries[name] = inheriting(entries[name], inherited)


def inherited_between(
    own: Mapping[str, RegistryEntry], shown: Mapping[str, RegistryEntry]
) -> dict[SkillName, Inherited]:
    """Give what entries show beyond what the skills say themselves: what must have been inherited."""
    found = {}
    for name in sorted(own.keys() & shown.keys()):
        mine, theirs = own[name], shown[name]
        inherited = Inherited(
            triggers=tuple(trigger for trigger in theirs["triggers"] if trigger not in mine["triggers"]),
            category=theirs["category"] if mine["category"] == GENERAL != theirs["category"] else "",
            description=theirs["description"] if not mine["description"] else "",
            version="" if mine.get("version") else theirs.get("version", ""),
            requires=without(_requires_of(theirs), _requires_of(mine)),
            user_only=theirs.get("userOnly", False) and not mine.get("userOnly"),
        )
        if inherited != Inherited():
            found[SkillName(name)] = inherited
    return found


def mark_of(receipt: Receipt) -> str:
    """Give what is another one when other facts are inherited; nothing where there are none."""
    return content_hash(repr(sorted(receipt.inherited.items(), key=str)).encode()) if receipt.inherited else ""
