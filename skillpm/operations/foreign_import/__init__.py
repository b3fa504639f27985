"""`import`: adopt skills that another tool installed."""
