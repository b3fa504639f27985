"""Maximum sizes and numbers of what comes from outside; `docs/security.md` lists them.

With these, hostile input takes less than 300 MB of memory; only an archive that is as large as allowed takes 320. Some
modules have limits of their own, for which they alone have the reasons: of paths (`core/names.py`), YAML
(`skillmd/yaml_loader.py`), git trees (`fetchers/git/tree_walk.py`).
"""

from skillpm.core.values import Value


class Limits(Value):
    """Maximum sizes of skills, downloads and index documents, in bytes; `files`, `skills` and `releases` are counts.

    Each has an environment variable, `SKILLPM_MAX_<NAME>`.
    """

    file: int = 25_000_000
    skill: int = 100_000_000
    files: int = 5_000
    # That one SPEC adds: of a repository, a folder or a site.
    skills: int = 5_000
    download: int = 100_000_000
    index: int = 10_000_000
    # Versions that indexes list of all the skills that one command looks up; each takes 2.5 kB of memory.
    releases: int = 50_000
    catalog: int = 20_000_000


# Of a document in a project, in bytes: manifest, lockfile, receipt, registry, and what other tools write.
MAX_DOCUMENT_SIZE = 20_000_000
# Of a manifest, in bytes (one of 5,000 skills has 400 kB); of its keys that skillpm does not know, and its patterns of
# members.
MAX_MANIFEST_SIZE = 500_000
MAX_UNKNOWN_KEYS = 100
MAX_MEMBER_PATTERNS = 1_000
# Of a configuration of an agent host, in bytes.
MAX_HOST_FILE_SIZE = 1_000_000
# Skills in a lockfile or a receipt.
MAX_LOCKED_SKILLS = 8_000
# Of a JSON document: brackets, commas and colons. As Python objects, they take thirty times their size and more. A
# catalog of 20,000 skills has 400,000 of these, a receipt of 10,000 skills with ten files each 800,000.
MAX_JSON_TOKENS = 1_500_000

# Of a TOML document, in bytes. tomllib takes up to two seconds for 1 MB, and for a dotted key the square of its parts.
MAX_TOML_SIZE = 400_000
MAX_TOML_KEY_PARTS = 20
# Dots in keys and numbers, of all of a document.
MAX_TOML_DOTS = 5_000

# Patterns of skill names in one document: of permissions, and of `priority`. Each is compared with those that have
# wildcards in the middle; the others are looked up.
MAX_NAME_PATTERNS = 5_000
MAX_INNER_WILDCARDS = 100
MAX_NAME_PATTERN_LENGTH = 100

# That one skill declares.
MAX_DEPENDENCIES = 500
# That all skills together declare, beside those in the manifest; and how many may require each other in a row.
MAX_ALL_DEPENDENCIES = 1_000
MAX_DEPENDENCY_DEPTH = 50

# Of a member in the directory of a zip, in bytes: its name, extra fields and comment.
MAX_ZIP_MEMBER_RECORD = 1_024

# Of all files that `diff` compares; the time grows with the square.
MAX_DIFF_LINES = 50_000
# Of a message to the MCP server, in bytes.
MAX_MCP_MESSAGE = 1_000_000
