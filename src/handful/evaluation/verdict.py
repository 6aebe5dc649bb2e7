"""What to do, in two sentences: the best bet, and what is proven."""

from __future__ import annotations

from dataclasses import dataclass

from handful.core.counted import counted
from handful.evaluation.ranking import LEVEL, Rank, Ranking, Setting

_LARGE = 0.05  # a difference that nobody should hear called chance
_WIDE = 0.5  # an interval from which nothing follows


@dataclass(frozen=True)
class Verdict:
    """What to do, in plain words.

    Parameters
    ----------
    use : str
        The method to use: the best bet among those that may be recommended.
    best_bet, proven : str
        One sentence each.
    unlabeled_help : bool
        Whether it is proven that unlabeled rows help.
    warnings : tuple of str
        One sentence for each method that unlabeled rows harm.
    """

    use: str
    best_bet: str
    proven: str
    unlabeled_help: bool
    warnings: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Both sentences."""
        return f"{self.best_bet} {self.proven}".strip()


def judge(ranking: Ranking, setting: Setting, cost: str = "") -> Verdict:
    """Say what to do.

    Parameters
    ----------
    ranking : Ranking
        At least one method, measured once or more.
    setting : Setting
        What the scores are scores of.
    cost : str
        What the best bet costs, in words.

    Returns
    -------
    Verdict
        Two sentences, and a third where a method that was not named, and ran for others to be held against, is expected
        to score higher than those that were. Unlabeled rows *help* if the best bet among the methods that use them is
        better than the best plain method (p below 0.05, adjusted for the number of methods), its gain over its own twin
        has an interval above zero, and no other method is expected to score higher from labels alone.

    Examples
    --------
    >>> from handful.evaluation.ranking import Entry, rank
    >>> setting = Setting(test_share=0.25, n_test=500, n_labels=20)
    >>> plain = Entry("k-nn", {0: 0.70, 1: 0.72, 2: 0.71}, plain=True)
    >>> other = Entry("tree", {0: 0.60, 1: 0.61, 2: 0.60}, plain=True)
    >>> more = Entry("ordinal-knn", {0: 0.80, 1: 0.82, 2: 0.80}, uses_unlabeled=True, twin="k-nn")
    >>> print(judge(rank([plain, other, more], setting), setting).proven)
    Proven: unlabeled rows help, +9.7 points over k-nn, the best supervised model (p = .011).
    """
    best = ranking.best
    rivals = sum(rank.candidate for rank in ranking.ranks) or len(ranking.ranks)
    of = f"{rivals}" if rivals == len(ranking.ranks) else f"the {rivals} that were named"
    chance = "" if rivals == 1 else f", {_chance(best.p_best)} to be the best of {of}"
    interval = f"95 % interval {_percent(best.low)} to {_percent(best.high)} %"
    if best.high - best.low > _WIDE:
        measured = (
            f"what was measured with {setting.n_labels} {setting.labels} tells little ({interval} {setting.metric})"
        )
        score = f"by experience with other data: {measured}"
    else:
        given = f"{setting.n_labels} {setting.labels}{', if classes are equally frequent' if setting.even else ''}"
        expected = f"expected at {_percent(best.expected)} % {setting.metric} with {given}"
        score = f"{expected} ({interval}; {_measured(best, setting)}){chance}"
    better = _better_unnamed(ranking)
    among = f" of the {rivals} that you named" if better and rivals > 1 else ""
    bet = f"Best bet{among}: {best.name}, {score}{f'; {cost}' if cost else ''}.{better}"
    proven, helped = _proven(ranking, setting)
    return Verdict(best.name, bet, proven, helped, _warnings(ranking, setting))


def _measured(best: Rank, setting: Setting) -> str:
    """Tell what the draws of a method gave, and how much they held out."""
    held_out = f"{setting.n_test:,} held-out {setting.labels}"
    draws = f"1 draw with {held_out}" if best.n_draws == 1 else f"{best.n_draws} draws with {held_out} each"
    return f"{draws} gave {_percent(best.measured)} % {setting.metric}"


def _better_unnamed(ranking: Ranking) -> str:
    """Point at a method that only ran for others to be held against, where it is expected to score higher than all of them."""
    first, best = ranking.ranks[0], ranking.best
    if first.candidate or _percent(first.expected) == _percent(best.expected):
        return ""
    tells_little = max(rank.high - rank.low for rank in (first, best)) > _WIDE
    score = "did better so far" if tells_little else f"is expected at {_percent(first.expected)} %"
    return f" A better bet: {first.name}, which was not named and ran beside it, {score}."


def _proven(ranking: Ranking, setting: Setting) -> tuple[str, bool]:
    semi = [rank for rank in ranking.ranks if rank.uses_unlabeled]
    best, base = ranking.best, ranking.baseline
    if base is None:
        return "Nothing is proven: no plain supervised model was measured beside it.", False
    helped = _helped(semi, ranking)
    if helped is not None and helped.gain is not None:
        which = "" if helped is best else f" ({helped.name})"
        text = f"Proven: {setting.unlabeled} help{which}, {_signed(helped.difference)} points over {base}"
        return f"{text}, {_called(ranking)} (p {_p(helped.p)}){_over_twin(helped, base)}.", True
    if best.better:
        return f"Proven: it is better than {base}{_by(best)}; {_owed(best, semi, setting)}.", False
    return _not_proven(ranking, semi, setting), False


def _over_twin(rank: Rank, base: str) -> str:
    if rank.gain is None or rank.gain.twin == base:
        return ""
    return f", and {_with_interval(rank, twin=True)} over {rank.gain.twin}"


def _helped(semi: list[Rank], ranking: Ranking) -> Rank | None:
    """Return the first method that unlabeled rows helped, and that is not below the best that learns from labels alone."""
    alone = max((rank.expected for rank in ranking.ranks if not rank.uses_unlabeled), default=0.0)
    return next((rank for rank in semi if rank.helped and rank.expected >= alone), None)


def _owed(best: Rank, semi: list[Rank], setting: Setting) -> str:
    if not best.uses_unlabeled:
        if not semi:
            return f"no method that uses {setting.unlabeled} was measured"
        return f"it learns from the labels alone, and {setting.unlabeled} are not shown to help"
    if best.gain is None:
        return f"what it owes to {setting.unlabeled} was not measured"
    return f"that it owes this to {setting.unlabeled} is not proven ({_with_interval(best, twin=True)} over {best.gain.twin})"


def _not_proven(ranking: Ranking, semi: list[Rank], setting: Setting) -> str:
    best, base = ranking.best, ranking.baseline
    if len(ranking.ranks) == 1:
        return "Nothing is proven: nothing else was measured."
    if not semi:
        text = f"Whether {setting.unlabeled} help was not tried: no method that uses them was measured"
        return f"{text}." if best.name == base else f"{text}; {_open(best, ranking)}."
    rank = best if best.uses_unlabeled else semi[0]
    name = "it" if rank is best else rank.name
    return f"Not proven: that {setting.unlabeled} help; {_open(rank, ranking, name)}."


def _open(rank: Rank, ranking: Ranking, name: str = "it") -> str:
    """Tell of a difference that is not proven, by its size."""
    base = f"{ranking.baseline}, {_called(ranking)}"
    if rank.name == ranking.baseline:
        return f"{name} is itself {_called(ranking)}"
    if rank.against is None:
        return f"{name} was measured too seldom to be held against {base}"
    told = _with_interval(rank)
    if rank.difference >= _LARGE:
        return f"{name} leads {base}, by {told}, but so few tested rows cannot prove it"
    if rank.against.high - rank.against.low > 2 * _WIDE:
        return f"so few tested rows cannot tell {name} from {base}"
    if rank.difference > 0:
        return f"{name} is at {told} to {base}, which may be chance"
    return f"{name} is at {told} to {base}"


def _called(ranking: Ranking) -> str:
    """Return what the baseline is; where nothing else learned from labels alone, it is the best of none."""
    n = sum(not rank.uses_unlabeled for rank in ranking.ranks)
    return "the best supervised model" if n > 1 else "the only plain supervised model"


def _by(rank: Rank) -> str:
    return f", the best other supervised model, by {_with_interval(rank)} (p {_p(rank.p)})"


def _warnings(ranking: Ranking, setting: Setting) -> tuple[str, ...]:
    return tuple(
        f"{setting.unlabeled.capitalize()} do harm to {rank.name}: {_with_interval(rank, twin=True)} against {rank.gain.twin}."
        for rank in ranking.ranks
        if rank.gain is not None and rank.gain.harms
    )


def _with_interval(rank: Rank, *, twin: bool = False) -> str:
    gain = rank.gain if twin else rank.against
    if gain is None:
        return ""
    shared = "" if gain.n_shared is None else f" on the {counted(gain.n_shared, 'draw')} that both had"
    return f"{_signed(gain.mean)} points ({_signed(max(gain.low, -1.0))} to {_signed(min(gain.high, 1.0))}{shared})"


def _p(p: float | None) -> str:
    if p is None:
        return f"> {LEVEL}"
    return "< .001" if p < 0.001 else f"= {f'{p:.3f}'.lstrip('0')}"


def _chance(p: float) -> str:
    return f"{min(max(round(100 * p), 1), 99)} % likely"


def _signed(value: float) -> str:
    text = f"{100 * value:+.1f}"
    return "0.0" if float(text) == 0 else text.replace("-", "\N{MINUS SIGN}")


def _percent(score: float) -> str:
    return f"{100 * min(max(score, 0.0), 1.0):.1f}"
