"""Which skills an agent host sees: its folders, their layouts, and which of two skills wins."""
