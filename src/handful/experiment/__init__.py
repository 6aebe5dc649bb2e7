"""Run a plan and compare methods: the one room that wires all stages together."""

import lazy_loader

# Loaded on first use: comparing needs scikit-learn, which takes a while to import. The names stand in __init__.pyi.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
