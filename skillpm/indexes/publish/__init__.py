"""An index written, extended, checked."""
