"""Arrays of others: everything that is a number is taken, everything else refused with the reason."""

from __future__ import annotations

import numpy as np
import pytest

from pmo_assets.encoders.evaluation.embeddings import Embeddings, EmbeddingsError, read_embeddings, read_ids


@pytest.mark.parametrize("scale", [1e-320, 1e-200, 1.0, 1e200, 1e308])
def test_unit_rows_have_length_one_at_any_scale(scale) -> None:
    rows = Embeddings(np.array([[1.0, -1.0], [0.5, 0.0]]) * scale).unit_rows()
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-15)
    np.testing.assert_allclose(rows[0], [np.sqrt(0.5), -np.sqrt(0.5)], rtol=1e-3 if scale < 1e-300 else 1e-15)


def test_equal_rows_give_equal_bits_wherever_they_stand() -> None:
    values = np.random.default_rng(0).standard_normal((50, 333)).astype(np.float32)
    values[40] = values[3]
    embeddings = Embeddings(values)
    assert (embeddings.unit_rows(slice(40, 41))[0] == embeddings.unit_rows()[3]).all()


@pytest.mark.parametrize("kind", ["f2", ">f4", "f8", ">f8", "i1", ">u4", "g"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_files_of_any_real_type_and_layout_are_read(tmp_path, kind, order) -> None:
    values = np.array([[1, 2, 2], [4, 0, 3]]).astype(kind, order=order)
    np.save(tmp_path / "x.npy", values)
    np.testing.assert_allclose(read_embeddings(tmp_path / "x.npy").unit_rows(), [[1 / 3, 2 / 3, 2 / 3], [0.8, 0, 0.6]])


def test_a_row_that_cannot_be_used_is_named() -> None:
    values = np.ones((9000, 2), np.float32)
    values[8193] = 0
    with pytest.raises(EmbeddingsError, match=r"^row 8193 of X\.npy: zero: it has no direction$"):
        Embeddings(values, "X.npy")
    values[[1, 2, 3, 4, 5, 6, 8999], [0, 1, 0, 1, 0, 1, 0]] = [np.nan, np.inf, *[np.nan] * 5]
    with pytest.raises(EmbeddingsError, match=r"^rows 1, 2, 3, 4, 5 and 2 more of X\.npy: not finite"):
        Embeddings(values, "X.npy")


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (np.ones((2, 2), np.complex64), "holds complex64"),
        (np.ones((2, 2), bool), "holds bool"),
        (np.array([["a"]]), "holds <U1"),
        (np.ones(3), r"shape \(3,\)"),
        (np.ones((1, 1, 1)), r"shape \(1, 1, 1\)"),
        (np.ones((0, 512)), r"is empty: its shape is \(0, 512\)"),
        (np.ones((3, 0)), r"is empty: its shape is \(3, 0\)"),
        (np.zeros((2, 2), [("x", "f4")]), "not real numbers"),
        (np.array(1.0), r"shape \(\)"),
        (np.zeros((2, 2), "M8[s]"), "not real numbers"),
    ],
)
def test_what_is_no_embeddings_is_refused(tmp_path, values, reason) -> None:
    np.save(tmp_path / "x.npy", values)
    with pytest.raises(EmbeddingsError, match=reason):
        read_embeddings(tmp_path / "x.npy")


def test_objects_are_not_unpickled(tmp_path) -> None:
    for number, array in enumerate([np.array([[object()]], object), np.array([{}], object)]):
        np.save(tmp_path / f"{number}.npy", array, allow_pickle=True)
        with pytest.raises(EmbeddingsError, match="holds Python objects"):
            read_embeddings(tmp_path / f"{number}.npy")
    np.array([[1.0]]).dump(tmp_path / "pickle.npy")
    with pytest.raises(EmbeddingsError, match=r"pickle\.npy holds Python objects"):
        read_embeddings(tmp_path / "pickle.npy")


def test_broken_files_are_refused(tmp_path) -> None:
    whole = tmp_path / "x.npy"
    np.save(whole, np.ones((100, 100)))
    (tmp_path / "half.npy").write_bytes(whole.read_bytes()[:-8])
    (tmp_path / "head.npy").write_bytes(whole.read_bytes()[:40])
    (tmp_path / "empty.npy").write_bytes(b"")
    np.savez(tmp_path / "archive.npz", x=np.ones((2, 2)))
    for name in ("half.npy", "head.npy", "empty.npy"):
        with pytest.raises(EmbeddingsError, match=r"is no whole \.npy file"):
            read_embeddings(tmp_path / name)
    with pytest.raises(EmbeddingsError, match=r"archive of arrays \(\.npz\)"):
        read_embeddings(tmp_path / "archive.npz")
    with pytest.raises(EmbeddingsError, match="is a folder"):
        read_embeddings(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_embeddings(tmp_path / "none.npy")


def test_ids_are_numbered(tmp_path) -> None:
    for ids in (["b", "a", "b"], [7, -1, 7], [b"y", b"x", b"y"], np.array([300, 2, 300], ">i8")):
        np.save(tmp_path / "ids.npy", ids)
        assert read_ids(tmp_path / "ids.npy", 3).tolist() == [1, 0, 1]
    with pytest.raises(EmbeddingsError, match=r"shape \(3,\), but 4 rows"):
        read_ids(tmp_path / "ids.npy", 4)
    np.save(tmp_path / "ids.npy", [0.5, np.nan])
    with pytest.raises(EmbeddingsError, match="ids are integers or strings"):
        read_ids(tmp_path / "ids.npy", 2)
