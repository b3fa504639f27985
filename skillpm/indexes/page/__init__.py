"""`catalog.html`, the HTML catalog of an index. All content of skills is untrusted and must be sanitized."""
