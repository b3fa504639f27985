"""Results of commands as documents for people and programs: Markdown, SARIF, annotations."""
