"""
Potency of features
===================

Condensed features look at what a first model does on unlabeled data: a feature that is seen often where the model answers
one way is potent. Features of like potency share one weight, and those of none are dropped.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from handful.representations.condensed_classifier import CondensedFeatureClassifier

X, truth = load_digits(return_X_y=True)
y = np.where(np.arange(len(X)) < 100, truth, -1)  # 100 labels, 1,697 rows without

model = CondensedFeatureClassifier().fit(X / 16, y)
answer = model.predict(X / 16)
print(f"{model.n_active_:,} shared weights for 640 features, {(answer == truth)[y < 0].mean():.1%} right")

# %%
# Which pixels speak for a digit: the weight that each pixel shares with others of its potency; dropped ones weigh 0.
figure, axes = plt.subplots(1, 5, figsize=(9, 2.2))
for digit, axis in enumerate(axes):
    member = model.member_of_[:64, digit]  # the last row is that of the constant
    weight = model.condensed_weights_[member]
    axis.imshow(weight.reshape(8, 8), cmap="coolwarm", vmin=-3, vmax=3)
    axis.set_title(f"digit {digit}", fontsize=10)
    axis.axis("off")
figure.tight_layout()
