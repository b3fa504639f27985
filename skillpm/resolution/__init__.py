"""From requirements to exact skills: rules only; the world is asked through a `Provider`."""
