"""HTTP client with limits; the only package that imports httpx."""
