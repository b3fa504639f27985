"""`[[trust]]` of config.toml: the trusted signers of each source (docs/guides/signing.md)."""

import json
from hashlib import sha256

from skillpm.core.digest import Digest
from skillpm.core.json_text.decoder import JsonNode
from skillpm.core.values import Value
from skillpm.formats.trust.place_patterns import read_place_pattern

IDENTITY_KEYS = ("identity", "issuer", "trusted-root")


class TrustRule(Value):
    """Whom the user trusts to sign the skills of a source. The files are relative to the folder of config.toml."""

    source: str
    # Certificates in PEM, at least one of them a root.
    root: str = ""
    # Public keys in PEM.
    keys: tuple[str, ...] = ()
    # The signers of git tags and commits, in the format of `ssh-keygen`.
    allowed_signers: str = ""
    # An identity of sigstore: an email address, or the URL of a workflow; its issuer; and the trust root.
    identity: str = ""
    issuer: str = ""
    trusted_root: str = ""
    # Whether a skill that none of them signed is refused.
    required: bool = False
    # File and key, for messages.
    where: str = ""

    @property
    def identity_fingerprint(self) -> Digest:
        """What a lockfile records of the identity, since each of its signatures has a key of its own.

        It is the SHA-256 of issuer and identity as a JSON array.
        """
        return Digest(f"sha256:{sha256(json.dumps([self.issuer, self.identity]).encode()).hexdigest()}")


def read_trust(node: JsonNode | None) -> tuple[TrustRule, ...]:
    """Read `[[trust]]`. Raises `DocumentError` with the invalid key."""
    return () if node is None else tuple(_read_rule(each) for each in node.elements())


def _read_rule(node: JsonNode) -> TrustRule:
    node.check_keys("source", "root", "keys", "allowed-signers", *IDENTITY_KEYS, "required")
    root, keys, signers = node.get("root"), node.get("keys"), node.get("allowed-signers")
    identity = [key for key in IDENTITY_KEYS if node.get(key) is not None]
    if root is None and keys is None and signers is None and not identity:
        node.raise_expected("at least one of `root`, `keys`, `allowed-signers` and `identity`")
    return TrustRule(
        source=read_place_pattern(node.require("source")),
        root="" if root is None else root.path(),
        keys=() if keys is None else tuple(key.path() for key in keys.elements()),
        allowed_signers="" if signers is None else signers.path(),
        # Without all three, every user with an account at the issuer, or any signer at all, would be trusted.
        identity=node.require("identity").path() if identity else "",
        issuer=node.require("issuer").path() if identity else "",
        trusted_root=node.require("trusted-root").path() if identity else "",
        required=node.flag_or("required"),
        where=node.where,
    )
