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


def write_transformer(folder, words, seed=0, layers=2, width=12, heads=3, inner=20, limit=10):
    """Write a folder of sentence-transformers that holds a small random BERT, and return its weights."""
    import json

    from safetensors.numpy import save_file
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    known = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *dict.fromkeys(words)]
    random = np.random.default_rng(seed)
    shapes = {
        "embeddings.word_embeddings.weight": (len(known), width),
        "embeddings.position_embeddings.weight": (limit + 2, width),
        "embeddings.token_type_embeddings.weight": (2, width),
        "embeddings.LayerNorm.weight": (width,),
        "embeddings.LayerNorm.bias": (width,),
    }
    for i in range(layers):
        dense = {f"attention.self.{name}": (width, width) for name in ("query", "key", "value")}
        dense |= {"attention.output.dense": (width, width), "intermediate.dense": (inner, width)}
        dense |= {"output.dense": (width, inner)}
        for name, (n_out, n_in) in dense.items():
            shapes |= {f"encoder.layer.{i}.{name}.weight": (n_out, n_in), f"encoder.layer.{i}.{name}.bias": (n_out,)}
        for name in ("attention.output.LayerNorm", "output.LayerNorm"):
            shapes |= {f"encoder.layer.{i}.{name}.{part}": (width,) for part in ("weight", "bias")}
    weights = {name: random.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "1_Pooling").mkdir(exist_ok=True)
    save_file(weights, folder / "model.safetensors")
    tokenizer = Tokenizer(models.WordLevel({word: at for at, word in enumerate(known)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    config = {"model_type": "bert", "hidden_act": "gelu", "num_attention_heads": heads, "num_hidden_layers": layers}
    files = {
        "config.json": {**config, "layer_norm_eps": 1e-12},
        "sentence_bert_config.json": {"max_seq_length": limit},
        "1_Pooling/config.json": {"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": False},
        "modules.json": [{"type": "sentence_transformers.models.Transformer"}],
    }
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content))
    return weights
