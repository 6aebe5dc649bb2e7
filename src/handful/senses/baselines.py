"""Row classifiers that learn senses from the same features as kernel PCA, for comparison."""

from __future__ import annotations

from typing import Any, Literal

Baseline = Literal["most-frequent", "naive-bayes", "maximum-entropy", "linear-svm"]

# Chosen by five-fold cross-validation on the training part of Senseval-2, all words pooled.
SMOOTHING = 2.0
ENTROPY_C = 50.0
SVM_C = 1.0


def make_baseline(name: Baseline, strength: float | None = None) -> Any:
    """Return an untrained baseline.

    Parameters
    ----------
    name : {"most-frequent", "naive-bayes", "maximum-entropy", "linear-svm"}
        ``"most-frequent"`` answers the most frequent class and needs no classifier.
    strength : float or None
        Smoothing of naive Bayes, or the constant C of the other two; None is the value that cross-validation chose.

    Returns
    -------
    estimator or None
        A scikit-learn classifier; None for ``"most-frequent"``.

    Examples
    --------
    >>> make_baseline("naive-bayes").alpha, make_baseline("most-frequent")
    (2.0, None)
    """
    if name == "naive-bayes":
        from sklearn.naive_bayes import MultinomialNB

        return MultinomialNB(alpha=SMOOTHING if strength is None else strength)
    if name == "maximum-entropy":
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression(C=ENTROPY_C if strength is None else strength, max_iter=1000)
    if name == "linear-svm":
        from sklearn.svm import LinearSVC

        return LinearSVC(C=SVM_C if strength is None else strength, random_state=0)
    return None
