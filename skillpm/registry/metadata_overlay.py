"""What a receipt inherited of skills, added to their registry entries. Pure, and light: every list goes this way."""

from collections.abc import Mapping

from skillpm.core.digest import content_hash
from skillpm.core.names import SkillName
from skillpm.core.system_requirements import SystemRequirements
from skillpm.formats.legacy_metadata import LegacyMetadata, merge_requirements, subtract_requirements
from skillpm.formats.receipt import Receipt
from skillpm.formats.registry import RegistryEntry, normalize_entry

DEFAULT_CATEGORY = "general"  # the category where nothing says otherwise
CHECKABLE_NEEDS = {
    "anyBins": "any_bins",
    "env": "env",
    "os": "os",
}  # what can be looked up on a machine, beside programs


def apply_legacy_metadata(entry: RegistryEntry, metadata: LegacyMetadata) -> RegistryEntry:
    """Give an entry with what was inherited added; it never takes the place of the skill's own, and twice is once."""
    own = entry["category"]
    requires = merge_requirements(_system_requirements(entry), metadata.requires)
    more = RegistryEntry(
        category=metadata.category if own == DEFAULT_CATEGORY and metadata.category else own,
        description=entry["description"] or metadata.description,
        triggers=list(dict.fromkeys([*entry["triggers"], *metadata.triggers])),
        version=entry.get("version", "") or metadata.version,
        requires=list(requires.bins),
        needs=select_checkable_needs(requires),
        userOnly=entry.get("userOnly", False) or metadata.user_only,
    )
    return normalize_entry({**entry, **more})


def select_checkable_needs(requires: SystemRequirements) -> dict[str, list[str]]:
    """Give what a skill needs beyond programs, as far as it can be looked up on a machine."""
    return {kind: list(words) for kind, field in CHECKABLE_NEEDS.items() if (words := getattr(requires, field))}


def _system_requirements(entry: RegistryEntry) -> SystemRequirements:
    needs = entry.get("needs", {})
    fields = {field: tuple(needs.get(kind, ())) for kind, field in CHECKABLE_NEEDS.items()}
    return SystemRequirements(bins=tuple(entry.get("requires", ())), **fields)


def add_legacy_metadata(entries: dict[str, RegistryEntry], receipt: Receipt) -> None:
    """Let every entry inherit what the receipt has for it."""
    for name, inherited in receipt.inherited.items():
        if name in entries:
            entries[name] = apply_legacy_metadata(entries[name], inherited)


def find_legacy_metadata(
    own: Mapping[str, RegistryEntry], registered: Mapping[str, RegistryEntry]
) -> dict[SkillName, LegacyMetadata]:
    """Give what entries show beyond what the skills say themselves: what must have been inherited."""
    found = {}
    for name in sorted(own.keys() & registered.keys()):
        mine, theirs = own[name], registered[name]
        inherited = LegacyMetadata(
            triggers=tuple(trigger for trigger in theirs["triggers"] if trigger not in mine["triggers"]),
            category=theirs["category"] if mine["category"] == DEFAULT_CATEGORY != theirs["category"] else "",
            description=theirs["description"] if not mine["description"] else "",
            version="" if mine.get("version") else theirs.get("version", ""),
            requires=subtract_requirements(_system_requirements(theirs), _system_requirements(mine)),
            user_only=theirs.get("userOnly", False) and not mine.get("userOnly"),
        )
        if inherited != LegacyMetadata():
            found[SkillName(name)] = inherited
    return found


def digest_legacy_metadata(receipt: Receipt) -> str:
    """Give what is another one when other facts are inherited; nothing where there are none."""
    return content_hash(repr(sorted(receipt.inherited.items(), key=str)).encode()) if receipt.inherited else ""
