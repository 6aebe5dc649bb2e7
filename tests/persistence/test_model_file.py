from __future__ import annotations

import hashlib
import os
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from tiny_model import TinyModel, find_tiny, fitted_tiny

from handful.errors import FileError, ModelFileError
from handful.models.table_model import TableModel
from handful.persistence.model_file import FORMAT_VERSION, Decoder, StateEncoder, load, save


def saved(tmp_path: Path) -> Path:
    path = tmp_path / "model.handful"
    save(fitted_tiny(), path)
    return path


def test_round_trip_keeps_every_kind_of_attribute(tmp_path):
    model, back = fitted_tiny(), load(saved(tmp_path), find_tiny)
    assert type(back) is TinyModel
    assert back.size == 3
    np.testing.assert_array_equal(back.rows_, model.rows_)
    assert back.rows_.dtype == model.rows_.dtype
    assert back.classes_.tolist() == ["a", "ß", "\N{GRINNING FACE}"]
    assert back.paths_ == {"a": "01", "b": ("x", None, 2**70, float("inf"))}
    assert (back.matrix_ != model.matrix_).nnz == 0
    assert back.objects_.tolist() == ["a", None, 3]
    np.testing.assert_array_equal(back.inner_.rows_, model.inner_.rows_)
    assert back.scalar_ == np.float32(0.5)
    assert back.scalar_.dtype == np.float32


def test_the_class_must_be_in_the_callers_table(tmp_path):
    with pytest.raises(ModelFileError, match="'tiny-model', which this handful does not know"):
        load(saved(tmp_path), lambda name: None)


def test_unfitted_and_foreign_objects_are_refused(tmp_path):
    with pytest.raises(ModelFileError, match="must be fitted before it is saved"):
        save(TinyModel(), tmp_path / "x")
    with pytest.raises(ModelFileError, match="object is not a method of handful"):
        save(object(), tmp_path / "x")
    model = fitted_tiny()
    model.rows_ = lambda: 0
    with pytest.raises(ModelFileError, match="rows_ is a function, which a model file cannot hold"):
        save(model, tmp_path / "x")
    model.rows_ = [model]
    with pytest.raises(ModelFileError, match="TinyModel holds itself"):
        save(model, tmp_path / "x")
    model.rows_ = np.zeros(2, dtype=np.longdouble)
    with pytest.raises(ModelFileError, match="array of type"):
        save(model, tmp_path / "x")
    with pytest.raises(FileError, match="is not a path"):
        save(fitted_tiny(), "a\0b")
    assert list(tmp_path.iterdir()) == []


def test_odd_numbers_and_letters_survive(tmp_path):
    model = TinyModel()
    model.rows_ = ["\ud800", 10**5000, -(2**60), float("-inf")]
    save(model, tmp_path / "x")
    assert load(tmp_path / "x", find_tiny).rows_ == model.rows_


@pytest.mark.parametrize("keep", [0, 1, 7, 8, 20, 31, 40, 63, 64, 200, -1])
def test_truncated_files_are_refused(tmp_path, keep):
    path = saved(tmp_path)
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(ModelFileError, match=r"truncated|not a handful model"):
        load(path, find_tiny)


def test_each_damage_has_its_sentence(tmp_path):
    path = saved(tmp_path)
    good = path.read_bytes()

    def refused(content: bytes, sentence: str, **limits: int) -> None:
        path.write_bytes(content)
        with pytest.raises(ModelFileError, match=sentence):
            load(path, find_tiny, **limits)

    refused(good + b"x", "1 byte too many at its end")
    refused(good[:-1] + bytes([good[-1] ^ 1]), "its checksum does not match")
    refused(good[:8] + struct.pack("<I", FORMAT_VERSION + 1) + good[12:], "Update handful")
    refused(good[:8] + struct.pack("<I", 0) + good[12:], "header is not one that handful writes")
    refused(b"PK\x03\x04" + good, "is not a handful model file")
    refused(good[:16] + struct.pack("<Q", 2**62) + good[24:], "larger than the limit")
    refused(good, "larger than the limit of 100 bytes", max_bytes=100)


def test_missing_file_and_folder_have_their_sentence(tmp_path):
    with pytest.raises(FileError, match=r"none\.handful: no such file\."):
        load(tmp_path / "none.handful", find_tiny)
    with pytest.raises(FileError, match=r"cannot be read \(Is a directory\)"):
        load(tmp_path, find_tiny)
    with pytest.raises(FileError, match="is a folder"):
        save(fitted_tiny(), tmp_path)
    with pytest.raises(FileError, match="cannot be written"):
        save(fitted_tiny(), tmp_path / "no" / "such" / "folder")


def test_a_crash_while_writing_leaves_the_old_file(tmp_path, monkeypatch):
    path = saved(tmp_path)
    before = path.read_bytes()

    def crash(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", crash)
    model = fitted_tiny()
    model.rows_ = np.zeros(1000)
    with pytest.raises(FileError, match="No space left"):
        save(model, path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_file_is_readable_as_umask_says(tmp_path):
    mask = os.umask(0o022)
    try:
        assert saved(tmp_path).stat().st_mode & 0o777 == 0o644
    finally:
        os.umask(mask)


def test_numbers_of_few_values_cannot_blow_up():
    wide, small = np.zeros((2, 1 << 10)), np.zeros(9, dtype=np.uint8)
    for values, numbers in ((wide, small), (wide[0], small.astype(np.int64)), (wide[0], small == 0)):
        decoder = Decoder({"v": values, "n": numbers}, find_tiny)
        with pytest.raises(ModelFileError, match="few values"):
            decoder.value({"$": "few values", "values": "v", "numbers": "n"})
    with pytest.raises(IndexError):
        Decoder({"v": wide[0][:3], "n": small + 7}, find_tiny).value({"$": "few values", "values": "v", "numbers": "n"})


@pytest.mark.parametrize(
    "coded",
    [
        {"$": "csr_array", "shape": [2, 2], "data": 0, "indices": 1, "indptr": 2},
        {"$": "sklearn", "kind": "os.system", "state": {}},
        {"$": "method", "kind": "builtins.eval", "state": {}},
        {"$": "python/object", "value": 1},
    ],
)
def test_hostile_values_are_refused(coded):
    arrays = {"data": np.ones(1), "indices": np.array([7]), "indptr": np.array([0, 1, 1])}
    if coded["$"] == "csr_array":
        coded |= {name: {"$": "array", "name": name} for name in arrays}
    with pytest.raises(ValueError, match=r"does not know|not admitted|unknown kind|indices"):
        Decoder(arrays, find_tiny).value(coded)


def test_string_arrays_cannot_blow_up():
    text = np.full(1 << 20, ord("a"), dtype=np.uint8)
    offsets = np.r_[np.zeros(1 << 20, dtype=np.int64), 1 << 20]
    coded = {"$": "strings", "text": "t", "offsets": "o", "shape": [len(offsets) - 1]}
    with pytest.raises(ModelFileError, match="larger than the limit"):
        Decoder({"t": text, "o": offsets}, find_tiny).value(coded)


def test_arrays_in_odd_layouts_survive():
    odd = {
        "fortran": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        "swapped": np.arange(3, dtype=">i4"),
        "zero": np.array(5),
        "empty": np.empty((0, 4)),
        "sliced": np.arange(10)[::3],
        "coo": sparse.coo_matrix(np.eye(3)),
    }
    encoder = StateEncoder()
    coded = encoder.encode_state(odd)
    back = {name: Decoder(encoder.arrays, find_tiny).value(value) for name, value in coded.items()}
    for name in ("fortran", "swapped", "zero", "empty", "sliced"):
        np.testing.assert_array_equal(back[name], odd[name])
        assert back[name].shape == odd[name].shape
    np.testing.assert_array_equal(back["coo"].toarray(), np.eye(3))


@pytest.mark.slow
def test_mutated_files_end_in_the_clean_error_and_run_no_code(tmp_path):
    # In a process of its own, because an audit hook cannot be taken off again.
    script = Path(__file__).parents[1] / "fuzz" / "fuzz_bytes.py"
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path), "12000"], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "12000 files" in done.stdout


def test_a_compressed_file_is_smaller_and_reads_the_same(tmp_path):
    model = fitted_tiny()
    model.rows_ = np.tile(np.arange(50.0), 40).reshape(40, 50) + np.arange(40)[:, None]
    save(model, tmp_path / "plain")
    save(model, tmp_path / "compressed", compressed=True)
    assert (tmp_path / "compressed").stat().st_size < (tmp_path / "plain").stat().st_size / 2
    np.testing.assert_array_equal(load(tmp_path / "compressed", find_tiny).rows_, model.rows_)


@pytest.mark.parametrize("compressed", [True, False])
@pytest.mark.parametrize("method", ["random-forest", "ordinal-knn", "tri-training", "kernel-pca", "label-spreading"])
def test_the_same_rows_seed_and_settings_give_the_same_bytes(tmp_path, method, compressed):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3)) + np.arange(40)[:, None] % 2
    y = np.where(np.arange(40) < 12, np.array(["a", "b"])[np.arange(40) % 2], None)
    for name in ("one", "two"):
        save(TableModel(method, random_state=3).fit(X, y), tmp_path / name, compressed=compressed)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_damage_of_a_compressed_file_has_its_sentence(tmp_path):
    path = tmp_path / "compressed"
    save(fitted_tiny(), path, compressed=True)
    good = path.read_bytes()
    head, body = good[:32], good[64:]

    def refused(head: bytes, body: bytes, sentence: str) -> None:
        path.write_bytes(head + hashlib.sha256(head + body).digest() + body)
        with pytest.raises(ModelFileError, match=sentence):
            load(path, find_tiny)

    n_text, n_arrays = struct.unpack("<QQ", head[16:])
    refused(head, body[:-10], "cannot be decompressed")
    refused(head, body + b"x", "cannot be decompressed")
    refused(head, b"\xff" * len(body), "cannot be decompressed")
    refused(head[:16] + struct.pack("<QQ", n_text, n_arrays - 1), body, "cannot be decompressed")
    refused(head[:16] + struct.pack("<QQ", n_text, n_arrays + 1), body, "cannot be decompressed")
    refused(head[:16] + struct.pack("<QQ", n_text, 1 << 30), body, "header is not one that handful writes")
    refused(head[:8] + struct.pack("<II", 3, 1) + head[16:], body, "header is not one that handful writes")
    refused(head[:8] + struct.pack("<II", 4, 2) + head[16:], body, "header is not one that handful writes")
    path.write_bytes(good[:-1] + bytes([good[-1] ^ 1]))
    with pytest.raises(ModelFileError, match="its checksum does not match"):
        load(path, find_tiny)
