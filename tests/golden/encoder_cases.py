"""Writes encoder_cases.json: what transformers computes with small encoders of each kind and head.

    pip install torch transformers numpy && python encoder_cases.py

The weights are made from integers, as in examples/synthetic_weights.hpp; the file lists the tensors in the order of the
state dictionary, which numbers them.
"""

import json
import pathlib

import numpy as np
import torch
import transformers as tf

SIZES = dict(vocab_size=60, max_position_embeddings=24, hidden_size=24, num_attention_heads=3, num_hidden_layers=3,
             intermediate_size=40)
# Nine ids with padding (0 or 1) at the end, inside and at the start; the rows are masked where they hold padding.
ROWS = [[2, 7, 11, 5, 59, 8, 30, 31, 3], [2, 9, 40, 3, 13, 3, "pad", "pad", "pad"], ["pad", 2, 12, "pad", 44, 17, 17, 3, "pad"]]
TYPES = [[0, 0, 0, 0, 1, 1, 1, 1, 1], [0, 0, 0, 0, 1, 1, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0]]


def mix(counter):
    z = counter * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def values(number, name, shape):
    """The synthetic weights of a tensor."""
    is_norm = any(part in name for part in (".ln_1.", ".ln_2.", ".ln_f.", "LayerNorm.", "layer_norm."))
    base, bits, exponent = (0, 11, -17) if name.endswith(".bias") else (1, 7, -10) if is_norm else (0, 11, -15)
    count = int(np.prod(shape))
    with np.errstate(over="ignore"):
        hashed = mix((np.uint64(number) << np.uint64(32)) + np.arange(1, count + 1, dtype=np.uint64))
    k = (hashed >> np.uint64(64 - bits)).astype(np.int64)
    return (base + (2 * k + 1 - 2**bits) * 2.0**exponent).astype(np.float32).reshape(shape)


def fill(model):
    """Makes the weights of a model and returns its list of tensors. A tied tensor is listed once, under its first name."""
    tensors, seen = [], set()
    for key, tensor in model.state_dict().items():
        if tensor.data_ptr() in seen:
            continue
        seen.add(tensor.data_ptr())
        shape = list(tensor.shape)
        made = values(len(tensors), key, shape) * np.float32(8 if tensor.ndim == 2 else 1)
        if tensor.ndim == 1 and key.endswith(".weight") and not any(part in key for part in (".ln_", "LayerNorm.", "layer_norm.")):
            made = made + np.float32(1)
        tensor.copy_(torch.from_numpy(made))
        tensors.append({"name": key, "shape": shape})
    return tensors


def case(name, model, pooling=None, normalizes=False, uses_types=False):
    """The outputs of a model with synthetic weights."""
    model.eval()
    tensors = fill(model)
    model = model.double()
    pad = model.config.pad_token_id
    ids = torch.tensor([[pad if i == "pad" else i for i in row] for row in ROWS])
    mask = torch.tensor([[i != "pad" for i in row] for row in ROWS]).long()
    inputs = dict(input_ids=ids, attention_mask=mask)
    if uses_types:
        inputs["token_type_ids"] = torch.tensor(TYPES)
    with torch.no_grad():
        result = model(**inputs)
    if hasattr(result, "start_logits"):
        output = torch.stack([result.start_logits, result.end_logits], 1)
    elif hasattr(result, "logits"):
        output = result.logits
    else:
        output = result.last_hidden_state
    if pooling == "mean":
        counted = mask.unsqueeze(2).double()
        output = (output * counted).sum(1) / counted.sum(1).clamp(min=1e-9)
    elif pooling == "first":
        output = output[:, 0]
    if normalizes:
        output = torch.nn.functional.normalize(output, dim=-1)
    config = json.loads(model.config.to_json_string(use_diff=False))
    config["architectures"] = [type(model).__name__]
    kept = {key: config[key] for key in sorted(config) if key in KEYS and config[key] is not None}
    return {"name": name, "config": kept, "pooling": pooling, "normalizes": normalizes, "tensors": tensors,
            "ids": ids.tolist(), "mask": mask.tolist(), "types": TYPES if uses_types else None,
            "shape": list(output.shape), "output": [float(f"{x:.9g}") for x in output.flatten().tolist()]}


KEYS = {"model_type", "architectures", "vocab_size", "max_position_embeddings", "hidden_size", "num_attention_heads",
        "num_hidden_layers", "intermediate_size", "type_vocab_size", "layer_norm_eps", "hidden_act", "pad_token_id", "id2label",
        "embedding_size", "num_hidden_groups", "inner_group_num", "dim", "n_heads", "n_layers", "hidden_dim", "activation",
        "tie_word_embeddings"}


def main():
    torch.manual_seed(0)
    bert = lambda **more: tf.BertConfig(**SIZES, **more)
    roberta = lambda **more: tf.RobertaConfig(**SIZES, **{"type_vocab_size": 1, "layer_norm_eps": 1e-5, "pad_token_id": 1, **more})
    albert = lambda **more: tf.AlbertConfig(**SIZES, embedding_size=16, **more)
    distilbert = lambda **more: tf.DistilBertConfig(
        vocab_size=60, max_position_embeddings=24, dim=24, n_heads=3, n_layers=2, hidden_dim=40, **more)
    three = dict(num_labels=3)
    cases = [
        case("bert_hidden", tf.BertModel(bert(), add_pooling_layer=False), uses_types=True),
        case("bert_mean", tf.BertModel(bert(), add_pooling_layer=False), "mean", True),
        case("bert_first", tf.BertModel(bert(hidden_act="relu"), add_pooling_layer=False), "first"),
        case("bert_sequence", tf.BertForSequenceClassification(bert(**three)), uses_types=True),
        case("bert_token", tf.BertForTokenClassification(bert(**three))),
        case("bert_question", tf.BertForQuestionAnswering(bert()), uses_types=True),
        case("bert_masked", tf.BertForMaskedLM(bert(hidden_act="gelu_new"))),
        case("bert_masked_untied", tf.BertForMaskedLM(bert(tie_word_embeddings=False))),
        case("roberta_hidden", tf.RobertaModel(roberta(), add_pooling_layer=False)),
        case("roberta_mean", tf.RobertaModel(roberta(type_vocab_size=2), add_pooling_layer=False), "mean", uses_types=True),
        case("roberta_sequence", tf.RobertaForSequenceClassification(roberta(**three))),
        case("roberta_token", tf.RobertaForTokenClassification(roberta(pad_token_id=4))),
        case("roberta_question", tf.RobertaForQuestionAnswering(roberta())),
        case("roberta_masked", tf.RobertaForMaskedLM(roberta(hidden_act="relu"))),
        case("xlm_roberta_sequence", tf.XLMRobertaForSequenceClassification(
            tf.XLMRobertaConfig(**SIZES, type_vocab_size=1, layer_norm_eps=1e-5, pad_token_id=1))),
        case("distilbert_hidden", tf.DistilBertModel(distilbert())),
        case("distilbert_sequence", tf.DistilBertForSequenceClassification(distilbert(**three))),
        case("distilbert_token", tf.DistilBertForTokenClassification(distilbert(**three))),
        case("distilbert_question", tf.DistilBertForQuestionAnswering(distilbert(activation="relu"))),
        case("distilbert_masked", tf.DistilBertForMaskedLM(distilbert())),
        case("albert_hidden", tf.AlbertModel(albert(), add_pooling_layer=False), uses_types=True),
        case("albert_groups", tf.AlbertModel(albert(num_hidden_groups=2, inner_group_num=2), add_pooling_layer=False)),
        case("albert_mean", tf.AlbertModel(albert(), add_pooling_layer=False), "mean", True),
        case("albert_sequence", tf.AlbertForSequenceClassification(albert(**three)), uses_types=True),
        case("albert_token", tf.AlbertForTokenClassification(albert(**three))),
        case("albert_question", tf.AlbertForQuestionAnswering(albert(hidden_act="gelu"))),
        case("albert_masked", tf.AlbertForMaskedLM(albert())),
    ]
    path = pathlib.Path(__file__).with_name("encoder_cases.json")
    lines = ",\n".join(json.dumps(each, separators=(",", ":")) for each in cases)
    path.write_text('{"transformers":"%s","cases":[\n%s\n]}\n' % (tf.__version__, lines))


if __name__ == "__main__":
    main()
