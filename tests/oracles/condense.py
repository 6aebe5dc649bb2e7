"""Condensed nearest neighbors, slow and literal: the vote, CNN, WCNN and SCNN of Søgaard (2011).

A row is a list of numbers and strings; strings are categorical and differ by 0 or 1. A store is a list of ``(row, label)``
in the order of storing. An unlabeled row has the label None.
"""

from __future__ import annotations

import math

TIED = 1e-12  # masses that differ relatively by no more than this are tied


def differences(a, b):
    result = []
    for p, q in zip(a, b, strict=True):
        if isinstance(p, str) or isinstance(q, str):
            result.append(0.0 if p == q else 1.0)
        else:
            result.append(abs(float(p) - float(q)))
    return result


def distance(a, b):
    parts = differences(a, b)
    return math.sqrt(math.fsum(part * part for part in parts))


def voters(store, x, k, ties="first"):
    """List ``(distance, label)`` of the stored rows that vote on `x`, nearest first, of equal ones the stored first."""
    measured = []
    for position, (row, label) in enumerate(store):
        measured.append((distance(x, row), position, label))
    measured.sort(key=lambda entry: (entry[0], entry[1]))
    if ties == "first":
        chosen = measured[:k]
    elif ties == "all":
        distinct = sorted({d for d, _, _ in measured})
        farthest = distinct[:k][-1]
        chosen = [entry for entry in measured if entry[0] <= farthest]
    else:
        raise ValueError(ties)
    return [(d, label) for d, _, label in chosen]


def weights(distances, vote="uniform", ties="first"):
    """Weigh the voters, whose distances ascend."""
    nearest, farthest = distances[0], distances[-1]
    equal = [1.0] * len(distances)
    if vote == "uniform":
        return equal
    if vote == "distance":
        if nearest == 0:
            return [1.0 if d == 0 else 0.0 for d in distances]
        return [1 / d for d in distances]
    if vote == "gaussian":
        if farthest == 0:
            return equal
        s2 = farthest**2 / math.log(1000)
        return [math.exp(-(d**2) / s2) for d in distances]
    if vote == "rank":
        if len(distances) == 1:
            return equal
        if ties == "all":
            distinct = sorted(set(distances))
            ranks = [distinct.index(d) + 1 for d in distances]
        else:
            ranks = list(range(1, len(distances) + 1))
        s2 = max(ranks) ** 2 / math.log(1000)
        return [math.exp(-((r + 1) ** 2) / s2) for r in ranks]
    if vote == "dudani":
        if farthest == nearest:
            return equal
        return [(farthest - d) / (farthest - nearest) for d in distances]
    if vote == "literal":
        if farthest == 0:
            return equal
        return list(distances)
    raise ValueError(vote)


def ask(store, x, k, vote="uniform", ties="first"):
    """Return the predicted label of `x` and the vote share of each label."""
    near = voters(store, x, k, ties)
    weighed = weights([d for d, _ in near], vote, ties)
    mass = {}
    for label in {label for _, label in near}:
        mass[label] = math.fsum(w for w, (_, other) in zip(weighed, near, strict=True) if other == label)
    total = math.fsum(weighed)
    share = {label: m / total for label, m in mass.items()}
    largest = max(mass.values())
    tied = {label for label, m in mass.items() if largest - m <= TIED * largest}
    for _, label in near:
        if label in tied:
            return label, share
    raise AssertionError("some voter has a tied label")


def condense(rows, labels, k=1, min_confidence=0.0, max_passes=1, vote="uniform", ties="first",
             shares=None):  # fmt: skip
    """Return the numbers of the stored rows in the order of storing: CNN, or WCNN where `min_confidence` > 0.

    `shares`, a list, receives every vote share that was compared with `min_confidence`.
    """
    kept = []
    passes = 0
    while max_passes is None or passes < max_passes:
        passes += 1
        before = len(kept)
        for i in range(len(rows)):
            if labels[i] is None or i in kept:
                continue
            if not kept:
                kept.append(i)
                continue
            store = [(rows[j], labels[j]) for j in kept]
            prediction, share = ask(store, rows[i], k, vote, ties)
            if prediction != labels[i]:
                kept.append(i)
            elif min_confidence > 0:
                if shares is not None:
                    shares.append(share[labels[i]])
                if share[labels[i]] < min_confidence:
                    kept.append(i)
        if len(kept) == before:
            break
    return kept


def semi_supervised_condense(rows, labels, k=3, min_confidence=0.55, pseudo_label_confidence=0.90, final_pass="cnn",
                             vote="uniform", ties="first", shares=None):  # fmt: skip
    """Return row numbers and labels of C, and row numbers and labels of C', after lines 1 to 18 of the paper's Fig. 4.

    `shares`, a list, receives pairs of every vote share and the threshold it was compared with.
    """
    shares = [] if shares is None else shares
    # Lines 1-2
    full = [(rows[i], labels[i]) for i in range(len(rows)) if labels[i] is not None]
    # Lines 3-7
    weak = []
    big = condense(rows, labels, k, min_confidence, 1, vote, ties, weak)
    shares.extend((share, min_confidence) for share in weak)
    big_labels = [labels[i] for i in big]
    # Lines 8-12
    for i in range(len(rows)):
        if labels[i] is None:
            prediction, share = ask(full, rows[i], k, vote, ties)
            shares.append((share[prediction], pseudo_label_confidence))
            if share[prediction] > pseudo_label_confidence:
                big.append(i)
                big_labels.append(prediction)
    # Lines 13-17
    final = []
    last_confidence = {"cnn": 0.0, "wcnn": min_confidence}[final_pass]
    positions = condense([rows[i] for i in big], big_labels, k, last_confidence, 1, vote, ties, final)
    shares.extend((share, last_confidence) for share in final)
    # Line 18
    return big, big_labels, [big[p] for p in positions], [big_labels[p] for p in positions]


def inconsistent(rows, labels, kept):
    """List the labeled rows that 1-NN over the kept rows (of equal distances the first stored) gets wrong."""
    wrong = []
    for i in range(len(rows)):
        if labels[i] is None:
            continue
        best = None
        for j in kept:
            d = distance(rows[i], rows[j])
            if best is None or d < best[0]:
                best = (d, labels[j])
        if best is None or best[1] != labels[i]:
            wrong.append(i)
    return wrong
