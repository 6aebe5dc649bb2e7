"""Su, Carpuat and Wu 2004: word senses by semi-supervised kernel PCA."""
