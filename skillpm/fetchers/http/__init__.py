"""HTTP with limits, the only place that speaks it."""
