"""Primitives without I/O: names, versions, text, digests, trees, checked decoding."""
