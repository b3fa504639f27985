"""From requirements to exact versions: rules only; the world is asked through a `Provider`."""
