"""Liu, Zhao, Zou and Xu 2013: ordinal semi-supervised k-NN."""
