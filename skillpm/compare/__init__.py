"""What two versions of a skill, or of a lockfile, differ in."""
