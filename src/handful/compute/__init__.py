"""Map-reduce over parts of data, here or on a Dask cluster, with results that do not depend on scheduling."""

from handful.compute.content_keys import file_identity
from handful.compute.engines import Engine, open_engine
from handful.compute.mapping import map_parts, map_reduce

__all__ = ["Engine", "file_identity", "map_parts", "map_reduce", "open_engine"]
