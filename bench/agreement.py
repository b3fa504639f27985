"""Our strict verdict beside the reference validator's (`skills-ref`), on every SKILL.md it can parse.

.venv/bin/python bench/agreement.py REPOSITORY...
"""

import collections
import posixpath
import sys
from pathlib import Path

from corpus import blobs
from skills_ref.parser import parse_frontmatter
from skills_ref.validator import validate_metadata

from skillpm.skillmd.validation import validate_skill


def main() -> None:
    """Print how often the verdicts agree, and every difference with what we found."""
    counts: collections.Counter[str] = collections.Counter()
    for repository in sys.argv[1:]:
        for path, data in blobs(repository):
            counts["files"] += 1
            folder = posixpath.basename(posixpath.dirname(path))
            try:
                metadata, _ = parse_frontmatter(data.decode())
            except Exception:  # noqa: BLE001  (whatever its YAML library stumbles over)
                counts["that the reference cannot parse"] += 1
                continue
            theirs = not validate_metadata(metadata, Path(folder))
            verdict = validate_skill(data, folder, ["SKILL.md"])
            counts["the same verdict" if verdict.valid == theirs else "another verdict"] += 1
            counts["valid for both"] += verdict.valid and theirs
            if verdict.valid != theirs:
                codes = sorted({finding.code for finding in verdict.findings if finding.level == "error"})
                output = "valid" if theirs else "not valid"
                counts[f"  they say {output}, we found {', '.join(codes) or 'nothing'}"] += 1
                print(f"{repository}: {path}: {codes} {validate_metadata(metadata, Path(folder))}", file=sys.stderr)
    for name, number in sorted(counts.items()):
        print(f"{number:7} {name}")


if __name__ == "__main__":
    main()
