"""Classifiers of other packages in model files, by skops: only types that skops trusts, so that a file cannot run code."""

from __future__ import annotations

from typing import Any

import numpy as np

from handful.core.errors import ModelFileError
from handful.core.optional import require

_WHY = "A model file of a classifier that is not handful's own"


def foreign_state(estimator: Any) -> np.ndarray:
    """Return a classifier as bytes, or refuse one that could not be read again.

    Parameters
    ----------
    estimator : scikit-learn estimator
        Fitted or not.

    Returns
    -------
    ndarray of uint8
        For `foreign_from`.

    Raises
    ------
    ModelFileError
        If it holds an object of a type that skops does not trust.
    MissingExtraError
        If skops is not installed.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> foreign_from(foreign_state(SVC(C=10.0))).C
    10.0
    """
    io = require("skops.io", extra="foreign", why=_WHY)
    try:
        block = io.dumps(estimator)
        untrusted = io.get_untrusted_types(data=block)
    except Exception as error:  # skops has many ways to say that it does not know an object
        raise ModelFileError(_refusal(estimator, f"{type(error).__name__}: {error}"[:200])) from None
    if untrusted:
        raise ModelFileError(_refusal(estimator, f"it holds {', '.join(sorted(untrusted)[:3])}"))
    return np.frombuffer(block, dtype=np.uint8)


def foreign_from(block: np.ndarray) -> Any:
    """Bring a classifier back; types that skops does not trust are refused, whatever the file says."""
    io = require("skops.io", extra="foreign", why=_WHY)
    try:
        return io.loads(np.asarray(block, dtype=np.uint8).tobytes(), trusted=[])
    except Exception:
        raise ModelFileError("it holds a classifier of another package that cannot be read.") from None


def _refusal(estimator: Any, why: str) -> str:
    return (
        f"save: a {type(estimator).__name__} cannot be kept in a model file, which must never run code ({why}). "
        "Compare it with others, but fit and keep it in Python."
    )
