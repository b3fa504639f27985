"""Add the legacy metadata in a receipt to registry entries. Pure, and light to import: every listing needs it."""

from collections.abc import Mapping

from skillpm.core.digest import content_hash
from skillpm.core.names import SkillName
from skillpm.core.system_requirements import SystemRequirements
from skillpm.formats.legacy_metadata import LegacyMetadata, merge_requirements, subtract_requirements
from skillpm.formats.receipt import Receipt
from skillpm.formats.registry import RegistryEntry, normalize_entry

DEFAULT_CATEGORY = "general"
# Requirements besides programs that can be checked on a machine: registry key -> field of `SystemRequirements`.
CHECKABLE_NEEDS = {"anyBins": "any_bins", "env": "env", "os": "os"}


def apply_legacy_metadata(entry: RegistryEntry, metadata: LegacyMetadata) -> RegistryEntry:
    """Return an entry with legacy metadata added. The skill's own values win; applying it twice changes nothing."""
    category = entry["category"]
    requires = merge_requirements(_system_requirements(entry), metadata.requires)
    merged = RegistryEntry(
        category=metadata.category if category == DEFAULT_CATEGORY and metadata.category else category,
        description=entry["description"] or metadata.description,
        triggers=list(dict.fromkeys([*entry["triggers"], *metadata.triggers])),
        version=entry.get("version", "") or metadata.version,
        requires=list(requires.bins),
        needs=select_checkable_needs(requires),
        userOnly=entry.get("userOnly", False) or metadata.user_only,
    )
    return normalize_entry({**entry, **merged})


def select_checkable_needs(requires: SystemRequirements) -> dict[str, list[str]]:
    """Return the requirements besides programs that can be checked on a machine."""
    return {kind: list(words) for kind, field in CHECKABLE_NEEDS.items() if (words := getattr(requires, field))}


def _system_requirements(entry: RegistryEntry) -> SystemRequirements:
    needs = entry.get("needs", {})
    fields = {field: tuple(needs.get(kind, ())) for kind, field in CHECKABLE_NEEDS.items()}
    return SystemRequirements(bins=tuple(entry.get("requires", ())), **fields)


def add_legacy_metadata(entries: dict[str, RegistryEntry], receipt: Receipt) -> None:
    """Add the receipt's legacy metadata to every entry that it has some for."""
    for name, metadata in receipt.inherited.items():
        if name in entries:
            entries[name] = apply_legacy_metadata(entries[name], metadata)


def find_legacy_metadata(
    own: Mapping[str, RegistryEntry], registered: Mapping[str, RegistryEntry]
) -> dict[SkillName, LegacyMetadata]:
    """Return what registered entries say beyond the skills' own entries, that is, their legacy metadata."""
    metadata_by_name = {}
    for name in sorted(own.keys() & registered.keys()):
        own_entry, registered_entry = own[name], registered[name]
        metadata = LegacyMetadata(
            triggers=tuple(trigger for trigger in registered_entry["triggers"] if trigger not in own_entry["triggers"]),
            category=registered_entry["category"]
            if own_entry["category"] == DEFAULT_CATEGORY != registered_entry["category"]
            else "",
            description=registered_entry["description"] if not own_entry["description"] else "",
            version="" if own_entry.get("version") else registered_entry.get("version", ""),
            requires=subtract_requirements(_system_requirements(registered_entry), _system_requirements(own_entry)),
            user_only=registered_entry.get("userOnly", False) and not own_entry.get("userOnly"),
        )
        if metadata != LegacyMetadata():
            metadata_by_name[SkillName(name)] = metadata
    return metadata_by_name


def digest_legacy_metadata(receipt: Receipt) -> str:
    """Return a digest of the receipt's legacy metadata; empty if it has none."""
    return content_hash(repr(sorted(receipt.inherited.items(), key=str)).encode()) if receipt.inherited else ""
