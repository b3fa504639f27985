"""The wording of answers to agents: one class per style, each following the host it is named after."""
