"""Indexes: folders of static files that any web server can serve; reading them, building them, proving them."""
