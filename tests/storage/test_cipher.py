"""Encrypted secrets: unreadable without the secret, of no use elsewhere, and never mistaken."""

import sys
from pathlib import Path
from subprocess import run

import pytest

from tenuto.config import Secret, Settings, cipher_key
from tenuto.core.error import StorageTrouble
from tenuto.storage.cipher import AesCipher

KEY = "k-1234567"
ABOUT = "lab http://127.0.0.1:1/v1"


def cipher(secret: str = "one secret of many") -> AesCipher:
    return AesCipher(lambda: cipher_key(Settings(data=Path("/nowhere"), secret=Secret(secret))))


def test_what_is_encrypted_opens_with_the_same_secret_and_does_not_show_itself() -> None:
    encrypted = cipher().encrypt(KEY, about=ABOUT)
    assert KEY not in encrypted
    assert cipher().decrypt(encrypted, about=ABOUT) == KEY
    assert cipher().encrypt(KEY, about=ABOUT) != encrypted


def test_another_secret_is_told_from_damage() -> None:
    encrypted = cipher().encrypt(KEY, about=ABOUT)
    with pytest.raises(StorageTrouble, match="encrypted with another secret"):
        cipher("another secret of many").decrypt(encrypted, about=ABOUT)
    with pytest.raises(StorageTrouble, match="by a newer Tenuto"):
        cipher().decrypt(f"2{encrypted[1:]}", about=ABOUT)


@pytest.mark.parametrize("cut", [-1, 14, 20])
def test_what_was_touched_is_not_decrypted(cut: int) -> None:
    encrypted = cipher().encrypt(KEY, about=ABOUT)
    other = "A" if encrypted[cut - 1] != "A" else "B"
    touched = encrypted[: cut - 1] + other + encrypted[cut:]
    for wrong in (touched, encrypted[:cut]):
        with pytest.raises(StorageTrouble, match="was changed in the database"):
            cipher().decrypt(wrong, about=ABOUT)


def test_a_key_is_of_no_use_for_another_address() -> None:
    encrypted = cipher().encrypt(KEY, about=ABOUT)
    with pytest.raises(StorageTrouble, match="was changed in the database"):
        cipher().decrypt(encrypted, about="lab http://127.0.0.1:2/v1")


def test_without_a_secret_the_key_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path / "data")
    encrypted = AesCipher(lambda: cipher_key(settings)).encrypt(KEY, about=ABOUT)
    assert AesCipher(lambda: cipher_key(settings)).decrypt(encrypted, about=ABOUT) == KEY
    assert (settings.data / "secret").stat().st_mode & 0o777 == 0o600
    elsewhere = Settings(data=tmp_path / "other")
    with pytest.raises(StorageTrouble, match="encrypted with another secret"):
        AesCipher(lambda: cipher_key(elsewhere)).decrypt(encrypted, about=ABOUT)


def test_a_key_that_was_made_can_be_given_to_more_nodes_as_their_secret(tmp_path: Path) -> None:
    made = Settings(data=tmp_path / "data")
    encrypted = AesCipher(lambda: cipher_key(made)).encrypt(KEY, about=ABOUT)
    secret = (made.data / "secret").read_text().strip()
    assert cipher(secret).decrypt(encrypted, about=ABOUT) == KEY


def test_where_nothing_is_encrypted_nothing_is_loaded() -> None:
    program = (
        "import sys, tenuto.wiring\n"
        "from tenuto.storage.cipher import AesCipher\n"
        "AesCipher(lambda: b'')\n"
        "assert not [name for name in sys.modules if name.startswith(('cryptography', 'asyncpg'))]"
    )
    said = run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stderr
