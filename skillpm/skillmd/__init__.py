"""The SKILL.md format: read, validated, repaired."""
