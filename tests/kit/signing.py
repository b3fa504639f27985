"""Keys and certificates of test signers."""

import datetime as dt
from typing import Any, Self

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

PEM = serialization.Encoding.PEM
START = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
END = dt.datetime(2030, 1, 1, tzinfo=dt.UTC)


class Key:
    """A private key, and its certificate if there is one."""

    def __init__(self, curve: ec.EllipticCurve | None = None) -> None:
        """Create the key, on P-256 unless another curve is given."""
        self.private = ec.generate_private_key(curve or ec.SECP256R1())
        self.chain: list[x509.Certificate] = []

    @property
    def pem(self) -> bytes:
        """The private key, unencrypted, and its certificates after it."""
        return self.encrypted(None) + self.certificates

    def encrypted(self, passphrase: bytes | None) -> bytes:
        """Return the private key with a passphrase."""
        cipher = serialization.BestAvailableEncryption(passphrase) if passphrase else serialization.NoEncryption()
        return self.private.private_bytes(PEM, serialization.PrivateFormat.PKCS8, cipher)

    @property
    def public_pem(self) -> bytes:
        """The public key."""
        return self.private.public_key().public_bytes(PEM, serialization.PublicFormat.SubjectPublicKeyInfo)

    @property
    def certificates(self) -> bytes:
        """The certificates, that of the key first."""
        return b"".join(certificate.public_bytes(PEM) for certificate in self.chain)

    def issue(
        self,
        name: str,
        key: "Key | None" = None,
        *,
        is_ca: bool = False,
        start: dt.datetime = START,
        end: dt.datetime = END,
        is_for_signing: bool = True,
        with_chain: bool = True,
        purpose: x509.ObjectIdentifier | None = None,
    ) -> "Key":
        """Issue a certificate for a new key; `with_chain` adds those of this one, apart from the root.

        `purpose` is the only one in the extended key usage; without it, there is no such extension.
        """
        key = key or Key()
        certificate = self._make(
            name, key, is_ca=is_ca, start=start, end=end, is_for_signing=is_for_signing, purpose=purpose
        )
        key.chain = [certificate, *(self.chain if with_chain else [])]
        return key

    @classmethod
    def root(cls, name: str = "Acme Root", *, end: dt.datetime = END) -> Self:
        """Create a root, whose certificate is its own."""
        root = cls()
        root.chain = [root._make(name, root, is_ca=True, start=START, end=end, is_for_signing=True)]
        return root

    def _make(
        self,
        name: str,
        key: "Key",
        *,
        is_ca: bool,
        start: dt.datetime,
        end: dt.datetime,
        is_for_signing: bool,
        purpose: x509.ObjectIdentifier | None = None,
    ) -> x509.Certificate:
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        others = ["content_commitment", "key_encipherment", "data_encipherment", "encipher_only", "decipher_only"]
        usage: dict[str, Any] = dict.fromkeys(others, False)
        usage |= {"digital_signature": is_for_signing and not is_ca, "key_agreement": not is_for_signing}
        usage |= {"key_cert_sign": is_ca and is_for_signing, "crl_sign": is_ca}
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self.chain[0].subject if self.chain else subject)
            .public_key(key.private.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(start)
            .not_valid_after(end)
            .add_extension(x509.BasicConstraints(ca=is_ca, path_length=None), critical=True)
            .add_extension(x509.KeyUsage(**usage), critical=True)
        )
        if purpose is not None:
            builder = builder.add_extension(x509.ExtendedKeyUsage([purpose]), critical=False)
        return builder.sign(self.private, hashes.SHA256())
