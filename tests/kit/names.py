"""Host names that a test resolves itself, as an attacker does with names of their own."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

# Python imports it on startup. Git resolves names by itself, and finds none of these.
_RESOLVER = """\
import json, os, socket
real, answers = socket.getaddrinfo, json.loads(os.environ["TEST_NAMES"])
def resolve(host, port, *more, **named):
    name = host if isinstance(host, str) else (host or b"").decode()
    known = answers.get(name)
    if known is None:
        return real(host, port, *more, **named)
    with open(os.environ["TEST_LOOKUPS"], "a") as log:
        log.write(name + "\\n")
    addresses = known.pop(0) if len(known) > 1 else known[0]
    if not addresses:
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
    return [entry for address in addresses for entry in real(address, port, *more, **named)]
socket.getaddrinfo = resolve
"""


class NameServer:
    """A resolver for the commands of a test.

    `answers` maps a name to its answers, each a list of addresses, or an empty one for a failure; the last answer is
    repeated. An address is looked up, too, when it is connected to: `{"93.184.215.14": [["127.0.0.2"]]}` leads
    connections to that address to loopback.
    """

    def __init__(self, folder: Path, answers: Mapping[str, Sequence[Sequence[str]]]) -> None:
        """Write the resolver to a folder."""
        folder.mkdir(exist_ok=True)
        (folder / "sitecustomize.py").write_text(_RESOLVER)
        self._log = folder / "lookups"
        self.environment = {
            "PYTHONPATH": str(folder),
            "TEST_NAMES": json.dumps(answers),
            "TEST_LOOKUPS": str(self._log),
        }

    @property
    def lookups(self) -> list[str]:
        """The names that were looked up, in order."""
        return self._log.read_text().splitlines() if self._log.exists() else []
