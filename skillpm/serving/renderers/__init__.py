"""How things are worded for agents: one file a style, each with the words of the loader it is named after."""
