"""Records to predicates: a small template language, ready template sets, and their extraction."""

import lazy_loader

# Loaded on first use: rows of a table need no templates. The names stand in __init__.pyi.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
