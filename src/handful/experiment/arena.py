"""Where trials are made, whatever is learned from: what arenas of tables and of corpora share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from handful.core.errors import HandfulError
from handful.evaluation.ranking import Setting
from handful.experiment.entrants import Entrant
from handful.experiment.trial import Cost, Outcome, Pilot, Task, quiet_single_thread


class Arena(ABC):
    """Trials on one set of data; what a trial is, a class for each kind of data says.

    Parameters
    ----------
    name : str
        Name of the data.
    metric : str
        What is scored.
    seed : int
        Seed of methods that use chance.
    """

    def __init__(self, name: str, metric: str, seed: int) -> None:
        self.name = name
        self.metric = metric
        self.seed = seed

    @property
    @abstractmethod
    def setting(self) -> Setting:
        """What the scores are scores of."""

    @abstractmethod
    def entrants(self, methods: Sequence[str] | None) -> tuple[Entrant, ...]:
        """Return those who take part; see `handful.experiment.entrants.choose_entrants`."""

    def prepare(self) -> None:  # noqa: B027  (most need nothing)
        """Do what is the same for all draws, before trials are made."""

    @abstractmethod
    def pilot(self, pilot: Pilot) -> Cost:
        """Try a method on little data; return what a whole trial would cost, which may be wrong by a factor of two."""

    def run(self, task: Task) -> Outcome:
        """Make one trial; a method that fails is an outcome too.

        Parameters
        ----------
        task : Task
            The trial.

        Returns
        -------
        Outcome
            What came of it.
        """
        try:
            with quiet_single_thread():
                return self._run(task)
        except (HandfulError, MemoryError) as error:
            return Outcome(task, None, error=str(error) or "ran out of memory.")
        except Exception as error:
            return Outcome(task, None, error=f"{type(error).__name__}: {error}"[:300])

    @abstractmethod
    def _run(self, task: Task) -> Outcome:
        """Make one trial."""
