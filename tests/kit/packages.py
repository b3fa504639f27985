"""Installed packages, as pip and npm leave them: a distribution in a virtual environment, a folder in node_modules."""

import base64
import hashlib
import json
import shutil
from collections.abc import Mapping
from pathlib import Path

from .skills import Files, to_bytes

SITE_PACKAGES = ".venv/lib/python3.11/site-packages"


def install_distribution(folder: Path, name: str, version: str, files: Files, *, record: str = "") -> Path:
    """Install a distribution into the `.venv` of a folder, in place of another version; return its site-packages.

    `record` are more lines of its RECORD.
    """
    site = folder / SITE_PACKAGES
    site.mkdir(parents=True, exist_ok=True)
    (folder / ".venv/pyvenv.cfg").write_text("home = /usr/bin\n")
    for old in site.glob(f"{name}-*.dist-info"):
        for line in (old / "RECORD").read_text().splitlines():
            (site / line.partition(",")[0]).unlink(missing_ok=True)
        shutil.rmtree(old)
    dist_info = f"{name}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    lines = []
    for path, content in {**files, f"{dist_info}/METADATA": metadata}.items():
        _write(site / path, to_bytes(content))
        digest = base64.urlsafe_b64encode(hashlib.sha256(to_bytes(content)).digest()).decode().rstrip("=")
        lines.append(f"{path},sha256={digest},{len(to_bytes(content))}")
    (site / dist_info / "RECORD").write_text("\n".join([*lines, f"{dist_info}/RECORD,,", *record.splitlines()]) + "\n")
    return site


def install_npm_package(
    folder: Path, name: str, version: str, files: Files, *, package_json: Mapping[str, object] | None = None
) -> Path:
    """Install a package into the node_modules of a folder, in place of another version; return its folder."""
    package = folder / "node_modules" / name
    shutil.rmtree(package, ignore_errors=True)
    document = {"name": name, "version": version, **(package_json or {})}
    for path, content in {**files, "package.json": json.dumps(document)}.items():
        _write(package / path, to_bytes(content))
    return package


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
