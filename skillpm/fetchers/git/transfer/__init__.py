"""Talk to git servers: connections, refs, and how missing objects are fetched."""
