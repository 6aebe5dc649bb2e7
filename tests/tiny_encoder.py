"""A tiny encoder of model2vec, made on the spot: nothing is downloaded."""

from __future__ import annotations

import numpy as np


def write_encoder(folder, words, seed=0, width=8):
    """Write a folder with a random vector for each word; texts are means of theirs."""
    return static_model(words, seed, width).save_pretrained(str(folder))


def static_model(words, seed=0, width=8):
    from model2vec import StaticModel
    from tokenizers import Tokenizer, models, pre_tokenizers

    known = ["[UNK]", *dict.fromkeys(words)]
    tokenizer = Tokenizer(models.WordLevel({word: at for at, word in enumerate(known)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    vectors = np.random.default_rng(seed).normal(size=(len(known), width)).astype(np.float32)
    return StaticModel(vectors, tokenizer, normalize=True)
