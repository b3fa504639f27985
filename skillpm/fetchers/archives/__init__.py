"""Archives as entries for the gate: every member by name, mode and bytes; nothing is ever extracted by a library."""
