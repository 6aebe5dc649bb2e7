"""One member of a team: a method, what it sees of the rows, and its parameters."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, cast, get_args

from handful.core.catalogue import get_card
from handful.core.errors import ParameterError
from handful.methods.views import ViewName


@dataclass(frozen=True)
class Member:
    """One member of a team: a method, the view of the rows that it gets, and its parameters.

    Examples
    --------
    >>> Member.parse("logistic-regression@clip C=0.1")
    Member(name='logistic-regression', view='clip', params={'C': 0.1})
    """

    name: str
    view: ViewName = "plain"
    params: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> Member:
        """Read ``name@view parameter=value ...``; the view and parameters may be left out."""
        head, *settings = text.split()
        name, _, view = head.partition("@")
        params = {}
        for part in settings:
            key, equals, value = part.partition("=")
            if not equals:
                raise ParameterError(f"Team: settings of a member must be like C=0.1, got {part!r}.")
            params[key] = _value(value)
        if view and view not in get_args(ViewName):
            raise ParameterError(f"Team: a view must be one of {', '.join(get_args(ViewName))}, got {view!r}.")
        return cls(get_card(name, "table").name, cast(ViewName, view or "plain"), params)


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
