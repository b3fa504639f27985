"""From a lockfile to folders on disk: actions, staging, journal, one commit, recovery."""
