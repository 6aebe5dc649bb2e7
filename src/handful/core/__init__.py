"""Records, labels, parameters, errors and model files: what every other room speaks."""
