"""The wording of answers to agents: one module per style, each following the host it is named after."""
