"""Random halves of the templates, so that strong observations do not hide weak ones."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from handful.features import Extractor


def template_halves(extractor: Extractor, n_pairs: int, seed: int) -> Iterator[np.ndarray]:
    """Yield which predicates belong to a random half of the observations, then to the other half, and so on.

    Parameters
    ----------
    extractor : Extractor
        Fitted.
    n_pairs : int
        How often the observations are split.
    seed : int
        Decides the splits.

    Yields
    ------
    ndarray of bool, shape (n_predicates,)
        Twice `n_pairs` masks. The label alone (template ``u``) is in all of them.

    Examples
    --------
    >>> extractor = Extractor(["u", "word[0]", "word[1]"]).fit([["a", "b"]])
    >>> extractor.names(range(extractor.n_predicates))
    ['u', 'word[0]=a', 'word[0]=b', 'word[1]=b', 'word[1]=</s>']
    >>> for half in template_halves(extractor, 1, seed=0):
    ...     print(half.tolist())
    [True, True, True, False, False]
    [True, False, False, True, True]
    """
    rng = np.random.default_rng(seed)
    sizes = np.diff(extractor.starts)
    always = np.array([not slot for slot in extractor.slots])
    observed = np.flatnonzero(~always)
    for _ in range(n_pairs):
        mixed = rng.permutation(observed)
        middle = (len(mixed) + 1) // 2
        for part in (mixed[:middle], mixed[middle:]):
            chosen = always.copy()
            chosen[part] = True
            yield np.repeat(chosen, sizes)
