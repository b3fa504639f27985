"""Signatures against model-signing, the reference of OpenSSF Model Signing: both must give the same verdicts.

    python bench/signatures.py SKILLS ROOT --judge PYTHON [--changes 500] [--seed 1] [--samples FOLDER]

SKILLS is a checkout of NVIDIA/skills, ROOT its `nv-agent-root-cert.pem`; PYTHON an interpreter of another environment
with model-signing and pyOpenSSL, which it needs and does not declare. Three parts: the verdict for each signed skill
of the checkout; for so many changes of one byte in the files of five skills; and for skills that skillpm signs, with
a key and with a certificate, before and after a change of one byte. With `--samples`, the folder `scripts/tests` of a
checkout of sigstore/model-transparency, also what each released version of model-signing has signed there with keys,
certificates and, in the log of sigstore.dev, an identity; this needs the extra `sigstore`. Ends with 1 if any verdict
differs, or a change of a signed file is not found.
"""

import argparse
import datetime as dt
import json
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from skillpm.core.file_tree import FileTree, SourceEntry
from skillpm.core.limits import Limits
from skillpm.core.names import SIGNATURE_FILE
from skillpm.core.tree_checks import check_tree
from skillpm.errors import SignatureError
from skillpm.formats.trust.trust_rules import TrustRule
from skillpm.trust.anchors import Anchors, read_certificates, read_public_key
from skillpm.trust.skill_signature import read_signing_key, sign_skill, verify_skill
from skillpm.vetting.identities import verify_identity

NOW = dt.datetime.now(dt.UTC)
JUDGE = """
import json, logging, sys
from pathlib import Path
import model_signing.hashing as hashing
import model_signing.verifying as verifying
logging.disable(logging.CRITICAL)
for line in sys.stdin:
    task = json.loads(line)
    config = verifying.Config()
    if task["certificate"]:
        config.use_certificate_verifier(certificate_chain=[Path(task["trusted"])])
    else:
        config.use_elliptic_key_verifier(public_key=Path(task["trusted"]))
    folder = Path(task["folder"])
    signature = folder / "skill.oms.sig"
    # As its command line does: without this, the signature itself is an extra file.
    config.set_hashing_config(hashing.Config().set_ignored_paths(paths=[signature], ignore_git_paths=True))
    try:
        config.verify(folder, signature)
        print(json.dumps(""), flush=True)
    except Exception as error:
        print(json.dumps(f"{type(error).__name__}: {error}"), flush=True)
"""


class Judge:
    """model-signing in a process of its own, with strict verification: no unsigned files."""

    def __init__(self, python: str) -> None:
        self.process = subprocess.Popen([python, "-c", JUDGE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def verify(self, folder: Path, trusted: Path, *, with_certificate: bool = True) -> str:
        """Return why a skill does not verify, or an empty string."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        task = {"folder": str(folder), "trusted": str(trusted), "certificate": with_certificate}
        self.process.stdin.write(json.dumps(task) + "\n")
        self.process.stdin.flush()
        return str(json.loads(self.process.stdout.readline()))


def read_tree(folder: Path) -> FileTree:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    entries = [SourceEntry(path=path.relative_to(folder).as_posix(), data=path.read_bytes()) for path in paths]
    return check_tree(entries, name=folder.name, limits=Limits())


def verify(folder: Path, anchors: Anchors) -> str:
    try:
        verify_skill(read_tree(folder), anchors, NOW)
    except SignatureError as error:
        return error.message
    return ""


def kind_of(message: str) -> str:
    for words, kind in (("do not match", "other files"), ("no trusted root", "another root"), ("", "verified")):
        if words in message and (words or not message):
            return kind
    return message


def compare_checkout(skills: Path, root: Path, judge: Judge) -> tuple[int, list[Path]]:
    """Print both verdicts for each skill; return how many differ, and the skills that verify."""
    anchors = read_certificates(root.read_bytes(), str(root))
    folders = sorted(path.parent for path in skills.rglob(SIGNATURE_FILE))
    counts, differ, verified = Counter[tuple[str, str]](), 0, []
    for folder in folders:
        ours, theirs = verify(folder, anchors), judge.verify(folder, root)
        counts[kind_of(ours), "verified" if not theirs else "refused"] += 1
        differ += bool(ours) != bool(theirs)
        if ours:
            print(f"  {folder.name}: {ours}\n    model-signing: {theirs[:160]}")
        else:
            verified.append(folder)
    for (ours, theirs), count in sorted(counts.items()):
        print(f"{count:5} skillpm: {ours}; model-signing: {theirs}")
    print(f"{len(folders)} skills, {differ} verdicts differ")
    return differ, verified


def change_byte(path: Path, chance: random.Random) -> None:
    data = bytearray(path.read_bytes())
    at = chance.randrange(len(data))
    data[at] ^= chance.randrange(1, 256)
    path.write_bytes(data)


def change_bytes(folders: Sequence[Path], root: Path, judge: Judge, changes: int, seed: int) -> int:
    """Change one byte at a time, in each file in turn; return how many are not found by both."""
    anchors, chance = read_certificates(root.read_bytes(), str(root)), random.Random(seed)  # noqa: S311  (repeatable)
    missed, found, other_digests = 0, Counter[str](), 0
    with tempfile.TemporaryDirectory() as scratch:
        copies = [Path(shutil.copytree(folder, Path(scratch, folder.name))) for folder in folders]
        digests = {copy: read_tree(copy).digest for copy in copies}
        targets = [(copy, path) for copy in copies for path in sorted(copy.rglob("*")) if path.is_file()]
        targets = [(copy, path) for copy, path in targets if path.stat().st_size]
        for number in range(changes):
            copy, path = targets[number % len(targets)]
            before = path.read_bytes()
            change_byte(path, chance)
            try:
                ours, theirs = bool(verify(copy, anchors)), bool(judge.verify(copy, root))
                other_digests += read_tree(copy).digest != digests[copy]
            finally:
                path.write_bytes(before)
            what = SIGNATURE_FILE if path.name == SIGNATURE_FILE else "signed files"
            found[f"{what}: skillpm {'found' if ours else 'verifies'}, theirs {'found' if theirs else 'verifies'}"] += 1
            missed += path.name != SIGNATURE_FILE and not (ours and theirs)
        print(f"{changes} changes of one byte in {len(targets)} files of {len(folders)} skills:")
    for line, count in sorted(found.items()):
        print(f"{count:5} {line}")
    print(f"{missed} changes of signed files were not found; {other_digests} of all changes change the locked digest")
    return missed


def make_certificate(
    name: str, key: ec.EllipticCurvePrivateKey, issuer: tuple[x509.Certificate, ec.EllipticCurvePrivateKey] | None
) -> x509.Certificate:
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    usage: dict[str, Any] = dict.fromkeys(
        ["content_commitment", "key_encipherment", "data_encipherment", "key_agreement", "encipher_only"], False
    )
    is_ca = name != "signer"
    usage |= {"digital_signature": not is_ca, "key_cert_sign": is_ca, "crl_sign": is_ca, "decipher_only": False}
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer[0].subject if issuer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(NOW - dt.timedelta(days=1))
        .not_valid_after(NOW + dt.timedelta(days=30))
        .add_extension(x509.BasicConstraints(ca=is_ca, path_length=None), critical=True)
        .add_extension(x509.KeyUsage(**usage), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )
    return builder.sign(issuer[1] if issuer else key, hashes.SHA384())


def verify_ours(folders: Sequence[Path], judge: Judge, seed: int) -> int:
    """Sign skills with a key and with a certificate; return how many verdicts are wrong."""
    chance, wrong = random.Random(seed), 0  # noqa: S311  (repeatable)
    root_key, ca_key = ec.generate_private_key(ec.SECP384R1()), ec.generate_private_key(ec.SECP384R1())
    root = make_certificate("root", root_key, None)
    ca = make_certificate("intermediate", ca_key, (root, root_key))
    with tempfile.TemporaryDirectory() as scratch:
        root_file = Path(scratch, "root.pem")
        root_file.write_bytes(root.public_bytes(serialization.Encoding.PEM))
        for number, folder in enumerate(folders):
            curve = (ec.SECP256R1(), ec.SECP384R1(), ec.SECP521R1())[number % 3]
            key = ec.generate_private_key(curve)
            pem = key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
            public = Path(scratch, "key.pub")
            public.write_bytes(
                key.public_key().public_bytes(
                    serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
                )
            )
            chain = [make_certificate("signer", key, (ca, ca_key)), ca]
            chained = pem + b"".join(it.public_bytes(serialization.Encoding.PEM) for it in chain)
            for text, trusted, is_chain in ((pem, public, False), (chained, root_file, True)):
                copy = Path(scratch, "signed", folder.name)
                shutil.copytree(folder, copy)
                signed = sign_skill(read_tree(copy), folder.name, read_signing_key(text, None, "key"))
                (copy / SIGNATURE_FILE).write_bytes(signed.read(SIGNATURE_FILE) or b"")
                anchors = (read_certificates if is_chain else read_public_key)(trusted.read_bytes(), "trusted")
                before = verify(copy, anchors), judge.verify(copy, trusted, with_certificate=is_chain)
                change_byte(copy / "SKILL.md", chance)
                after = verify(copy, anchors), judge.verify(copy, trusted, with_certificate=is_chain)
                if any(before) or not all(after):
                    wrong += 1
                    print(f"  {folder.name}, {'certificate' if is_chain else 'key'}: {before}, changed: {after}")
                shutil.rmtree(copy)
    print(f"{2 * len(folders)} signatures of skillpm by keys and certificates on three curves: {wrong} wrong verdicts")
    return wrong


def verify_samples(folder: Path) -> int:
    """Verify what released versions have signed, and that a change is found; return how many verdicts are wrong.

    Left out are formats from before 1.0, and signatures of a single file, which is no skill.
    """
    identity, issuer = "stefanb@us.ibm.com", "https://sigstore.verify.ibm.com/oauth2"
    store = Path(str(files("sigstore"))) / "_store"
    trusted_root = next(store.glob("*sigstore.dev/trusted_root.json"))
    ca, key = (folder / "keys/certificate" / name for name in ("ca-cert.pem", "signing-key-pub.pem"))
    wrong = 0
    for sample in sorted(folder.glob("v1.*-*")):
        paths = [path for path in sorted(sample.iterdir()) if path.name != "ignore-me"]
        data = {SIGNATURE_FILE if path.name == "model.sig" else path.name: path.read_bytes() for path in paths}
        if sample.name == "v1.0.0-elliptic-key":
            continue
        for content, expected in ((data, True), (data | {"signme-1": b"changed"}, False)):
            found = sorted(content.items())
            tree = FileTree(files=tuple(SourceEntry(path=path, data=each).as_file(path) for path, each in found))
            verifiers: dict[str, Callable[[], object]] = {
                "sigstore": partial(
                    verify_identity,
                    tree,
                    content.get(SIGNATURE_FILE, b""),
                    TrustRule(source="*", identity=identity, issuer=issuer),
                    str(trusted_root),
                ),
                "certificate": partial(verify_skill, tree, read_certificates(ca.read_bytes(), "ca")),
                "elliptic-key": partial(verify_skill, tree, read_public_key(key.read_bytes(), "key")),
            }
            try:
                verifiers[sample.name.partition("-")[2]]()
                verdict = ""
            except SignatureError as error:
                verdict = error.message
            wrong += (verdict == "") != expected
            print(f"  {sample.name}{'' if expected else ', changed'}: {verdict or 'verified'}")
    print(f"{wrong} samples have a wrong verdict")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("skills", type=Path)
    parser.add_argument("root", type=Path)
    parser.add_argument("--judge", required=True, metavar="PYTHON")
    parser.add_argument("--changes", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--samples", type=Path)
    options = parser.parse_args()
    judge = Judge(options.judge)
    differ, verified = compare_checkout(options.skills, options.root, judge)
    sample = random.Random(options.seed).sample(verified, 30)  # noqa: S311  (repeatable)
    missed = change_bytes(sample[:5], options.root, judge, options.changes, options.seed)
    wrong = verify_ours(sample, judge, options.seed)
    wrong += verify_samples(options.samples) if options.samples else 0
    return 1 if differ or missed or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
