"""Which skills an agent host sees: its folders, their layouts, which of two skills counts."""
