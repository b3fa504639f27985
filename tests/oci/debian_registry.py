"""Debian's docker-registry with TLS and a password, as a process of the test."""

import os
import shutil
import socket
import subprocess
import time
from pathlib import Path
from typing import Self

from kit import CertificateAuthority

PROGRAM = shutil.which("docker-registry", path=f"{os.environ['PATH']}:/usr/bin:/usr/sbin")
LIMIT = 60.0
# Of `ann` and the password `s3cret`, as htpasswd -B writes it: the registry reads no other kind.
HTPASSWD = "ann:$2y$05$ISVMRU07BwvuvF9f9apxm.fuqdBW5JpUYrVMqujgk1rkxpR7ZDTBq\n"
CONFIGURATION = """\
version: 0.1
log: {{level: error, accesslog: {{disabled: true}}}}
storage: {{filesystem: {{rootdirectory: {folder}/data}}, delete: {{enabled: true}}}}
http:
  addr: 127.0.0.1:{port}
  tls: {{certificate: {folder}/chain.pem, key: {folder}/key.pem}}
auth: {{htpasswd: {{realm: test, path: {folder}/htpasswd}}}}
"""


class DebianRegistry:
    """Serves an empty registry on a free port, with the login `ann` and `s3cret`."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.host = f"127.0.0.1:{port}"
        self.company = CertificateAuthority(folder)
        self.company.write_files("127.0.0.1", folder / "chain.pem", folder / "key.pem")
        (folder / "htpasswd").write_text(HTPASSWD)
        self._configuration = folder / "registry.yml"
        self._configuration.write_text(CONFIGURATION.format(folder=folder, port=port))

    def environment(self, password: str) -> dict[str, str]:
        """Return the variables with which skillpm trusts the registry and logs in."""
        prefix = "SKILLPM_OCI_" + self.host.replace(".", "_").replace(":", "_")
        return {
            f"{prefix}_USERNAME": "ann",
            f"{prefix}_PASSWORD": password,
            "SSL_CERT_FILE": str(self.company.certificate_file),
        }

    def __enter__(self) -> Self:
        command = [PROGRAM or "docker-registry", "serve", str(self._configuration)]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + LIMIT
        while not self._listens():
            assert self._process.poll() is None, "the registry ended"
            assert time.monotonic() < until, "the registry does not listen"
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait()

    def _listens(self) -> bool:
        host, _, port = self.host.partition(":")
        with socket.socket() as probe:
            return probe.connect_ex((host, int(port))) == 0
