"""Hand-written registries of the time before skillpm generated `skills.json`, and the metadata in them."""
