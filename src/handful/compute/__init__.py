"""Map-reduce over parts of data, with results that do not depend on scheduling."""

from handful.compute.local import map_reduce

__all__ = ["map_reduce"]
