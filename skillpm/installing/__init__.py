"""From a lockfile to folders on disk: looked at, planned, staged, committed as one, healed after a crash."""
