"""
A tagger from typical words
===========================

Three typical words for each field, raw ads, and not one labeled ad: a prototype tagger learns which words behave like them. The
ads are generated, so that the truth is known.
"""

from collections import Counter

import matplotlib.pyplot as plt

from handful.tagging.prototypes.tagger import PrototypeTagger
from papers.generated import APARTMENT_PROTOTYPES, make_apartment_ads

ads = make_apartment_ads(200, random_state=1)
sentences = [ad.tokens for ad in ads]
counts = Counter(token for sentence in sentences for token in sentence)

# %%
# The board: field, prototypes, and how often each occurs.
for label, words in APARTMENT_PROTOTYPES.items():
    print(f"{label:14}", "  ".join(f"{word} ({counts[word]})" for word in words))

# %%
# How many words of each field the tagger gets right.
tagger = PrototypeTagger(APARTMENT_PROTOTYPES, order=1, boundary="BOUNDARY", max_iter=25, random_state=0).fit(sentences)
right, total = Counter(), Counter()
for ad, tags in zip(ads, tagger.predict(sentences)):
    for truth, tag in zip(ad["field"], tags):
        total[truth] += 1
        right[truth] += truth == tag

labels = sorted(total, key=lambda label: right[label] / total[label])
plt.figure(figsize=(7, 4))
plt.barh(labels, [right[label] / total[label] for label in labels])
plt.xlabel(f"share of words with the right field; {sum(right.values()) / sum(total.values()):.0%} of all words")
plt.tight_layout()
