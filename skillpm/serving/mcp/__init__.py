"""Skills over the Model Context Protocol."""
