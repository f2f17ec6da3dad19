"""The certificates of a cell, by the program `openssl`: cert.pem, priv.key, and ca.pem, which clients trust."""

import ipaddress
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from quiclab._quiclab import Error

DAYS = "30"
_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")


def check() -> None:
    """Raises `Error` if the program is missing."""
    if shutil.which("openssl") is None:
        raise Error("the program openssl is missing: install openssl, which makes the certificates of the servers")


def make(folder: Path, names: Sequence[str]) -> None:
    """Writes the files into an existing folder: a leaf for these names and addresses, and the authority that signed it.

    Raises `Error` if that fails.
    """
    check()
    alternatives = ",".join(_alternative(name) for name in names)
    extensions = folder / "leaf.cnf"
    extensions.write_text(
        f"subjectAltName={alternatives}\nbasicConstraints=critical,CA:FALSE\nextendedKeyUsage=serverAuth\n"
        "subjectKeyIdentifier=hash\nauthorityKeyIdentifier=keyid\n",
        encoding="utf-8",
    )
    authority = ["-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=quiclab matrix authority", "-days", DAYS]
    usages = ["-addext", "keyUsage=critical,keyCertSign,cRLSign"]
    _openssl(folder, "req", "-x509", *_KEY, *authority, *usages)
    _openssl(folder, "req", *_KEY, "-keyout", "priv.key", "-out", "leaf.csr", "-subj", "/CN=server")
    signed = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", "leaf.cnf", "-days", DAYS]
    _openssl(folder, "x509", "-req", "-in", "leaf.csr", *signed, "-out", "cert.pem")
    for name in ("ca.key", "leaf.csr", "leaf.cnf", "ca.srl"):
        (folder / name).unlink(missing_ok=True)


def _alternative(name: str) -> str:
    try:
        return f"IP:{ipaddress.ip_address(name)}"
    except ValueError:
        return f"DNS:{name}"


def _openssl(folder: Path, *words: str) -> None:
    done = subprocess.run(["openssl", *words], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Error(f"openssl {words[0]}: {done.stderr.strip().splitlines()[-1:] or done.returncode}")
