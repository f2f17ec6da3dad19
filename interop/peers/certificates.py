"""Writes the certificates of a run into a folder: `python certificates.py DIR`.

ca.pem is what clients trust. `cert.pem` with `key.pem` is a short chain, `long.pem` with `long-key.pem` one whose
Certificate message is so large that a server has to stop at the amplification limit (RFC 9000 section 8.1).
"""

import datetime
import ipaddress
import os
import sys
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

INTERMEDIATES = 4
"""How many certificates stand between root and leaf in the long chain; libraries refuse more than six."""

PADDING = 1800
"""Bytes of an extension that nobody knows, in each certificate of the long chain."""

PRIVATE = x509.ObjectIdentifier("1.3.6.1.4.1.32473.1")
"""An object identifier of the arc for examples (RFC 5612)."""


class Signer:
    """A key with the name that it signs as."""

    def __init__(self, name: str) -> None:
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])

    def issue(self, subject: "Signer", *, authority: bool, padding: int = 0) -> x509.Certificate:
        """A certificate for another signer."""
        now = datetime.datetime.now(datetime.UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject.name)
            .issuer_name(self.name)
            .public_key(subject.key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(hours=1))
            .not_valid_after(now + datetime.timedelta(days=7))
            .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(subject.key.public_key()), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key()), critical=False)
        )
        if authority:
            rights = ["content_commitment", "key_encipherment", "data_encipherment", "key_agreement"]
            usage = dict.fromkeys([*rights, "encipher_only", "decipher_only"], False)
            builder = builder.add_extension(
                x509.KeyUsage(digital_signature=True, key_cert_sign=True, crl_sign=True, **usage), critical=True
            )
        else:
            names = [x509.DNSName("localhost")]
            addresses = [x509.IPAddress(ipaddress.ip_address(text)) for text in ("127.0.0.1", "127.0.0.2", "::1")]
            builder = builder.add_extension(
                x509.SubjectAlternativeName([*names, *addresses]), critical=False
            ).add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        if padding:
            builder = builder.add_extension(x509.UnrecognizedExtension(PRIVATE, os.urandom(padding)), critical=False)
        return builder.sign(self.key, hashes.SHA256())

    def pem(self) -> bytes:
        """The private key."""
        return self.key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )


def pem(*chain: x509.Certificate) -> bytes:
    """A chain, the leaf first."""
    return b"".join(certificate.public_bytes(serialization.Encoding.PEM) for certificate in chain)


def main(folder: Path) -> None:
    """Write all files."""
    folder.mkdir(parents=True, exist_ok=True)
    root, leaf = Signer("quiclab interop root"), Signer("localhost")
    (folder / "ca.pem").write_bytes(pem(root.issue(root, authority=True)))
    (folder / "cert.pem").write_bytes(pem(root.issue(leaf, authority=False)))
    (folder / "key.pem").write_bytes(leaf.pem())
    issuer, chain = root, []
    for number in range(INTERMEDIATES):
        subject = Signer(f"quiclab interop intermediate {number}")
        chain.insert(0, issuer.issue(subject, authority=True, padding=PADDING))
        issuer = subject
    leaf = Signer("localhost")
    chain.insert(0, issuer.issue(leaf, authority=False, padding=PADDING))
    (folder / "long.pem").write_bytes(pem(*chain))
    (folder / "long-key.pem").write_bytes(leaf.pem())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
