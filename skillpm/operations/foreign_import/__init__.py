"""`import`: what another tool installed, taken over."""
