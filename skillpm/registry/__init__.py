"""The generated registry (`skills.json`) of a skills directory: build it, read it, keep it current for loaders."""
