"""Permission rules that agent hosts keep in their own files."""
