"""The pipeline of every command that changes something: resolve, plan, execute."""
