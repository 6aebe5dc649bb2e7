"""Classifiers of scikit-learn as methods of the house: one small module each, imported when it is named."""
