"""The resolver: from requirements to exact versions. All I/O goes through a `Provider`."""
