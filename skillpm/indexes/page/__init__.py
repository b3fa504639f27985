"""`catalog.html`: an index as one page for people. What skills say of themselves is hostile until it is clean."""
