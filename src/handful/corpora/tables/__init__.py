"""Tables as people have them: which rows have labels, what each column is, and what is odd about it."""

import lazy_loader

# Loaded on first use: who reads does not wait for what writes. The names stand in __init__.pyi.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
