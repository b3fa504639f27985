"""Indexes, folders of static files that any web server can serve: read, build, search and check them."""
