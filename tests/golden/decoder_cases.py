"""Writes decoder_cases.json: what transformers computes with small Llamas and their relatives.

    pip install torch transformers numpy && python decoder_cases.py

The weights are made as in encoder_cases.py.
"""

import json
import pathlib

import torch
import transformers as tf
from encoder_cases import fill

SIZES = dict(vocab_size=50, hidden_size=24, num_attention_heads=6, num_key_value_heads=2, num_hidden_layers=3,
             intermediate_size=40, max_position_embeddings=64)
IDS = [3, 17, 9, 41, 41, 5, 28, 0, 49, 12, 33]
KEYS = {"model_type", "vocab_size", "hidden_size", "num_attention_heads", "num_key_value_heads", "num_hidden_layers",
        "intermediate_size", "max_position_embeddings", "head_dim", "rms_norm_eps", "hidden_act", "hidden_activation",
        "tie_word_embeddings", "attention_bias", "mlp_bias", "rope_theta", "rope_scaling", "rope_parameters",
        "rope_local_base_freq", "sliding_window", "use_sliding_window", "layer_types", "query_pre_attn_scalar"}


def case(name, model):
    model.eval()
    tensors = fill(model)
    config = json.loads(model.config.to_json_string(use_diff=False))
    model = model.double()
    with torch.no_grad():
        logits = model(torch.tensor([IDS])).logits[0]
    return {"name": name, "config": {key: config[key] for key in sorted(config) if key in KEYS and config[key] is not None},
            "tensors": tensors, "ids": IDS, "logits": [float(f"{x:.9g}") for x in logits.flatten().tolist()]}


def main():
    torch.manual_seed(0)
    base = {"rope_type": "default", "rope_theta": 500.0}
    llama = lambda **more: tf.LlamaForCausalLM(tf.LlamaConfig(**{**SIZES, "rope_parameters": base, **more}))
    three = {"rope_type": "llama3", "rope_theta": 500.0, "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
             "original_max_position_embeddings": 16}
    linear = {"rope_type": "linear", "rope_theta": 500.0, "factor": 2.5}
    local = {"full_attention": {"rope_type": "linear", "rope_theta": 1000.0, "factor": 2.0},
             "sliding_attention": {"rope_type": "default", "rope_theta": 100.0}}
    kinds = ["sliding_attention", "sliding_attention", "full_attention"]
    eager = dict(attn_implementation="eager")
    cases = [
        case("llama", llama()),
        case("llama_tied", llama(tie_word_embeddings=True, head_dim=10)),
        case("llama_biases", llama(attention_bias=True, mlp_bias=True, hidden_act="gelu")),
        case("llama_scaled", llama(rope_parameters=three)),
        case("llama_linear", llama(rope_parameters=linear, num_key_value_heads=6)),
        case("mistral", tf.MistralForCausalLM(tf.MistralConfig(**SIZES, rope_parameters=base, sliding_window=4, head_dim=4, **eager))),
        case("qwen2", tf.Qwen2ForCausalLM(tf.Qwen2Config(**SIZES, rope_parameters=base))),
        case("qwen3", tf.Qwen3ForCausalLM(tf.Qwen3Config(**SIZES, rope_parameters=base, head_dim=8, tie_word_embeddings=True))),
        case("gemma3", tf.Gemma3ForCausalLM(tf.Gemma3TextConfig(**SIZES, rope_parameters=local, head_dim=8, sliding_window=4,
                                                                layer_types=kinds, query_pre_attn_scalar=12, **eager))),
    ]
    path = pathlib.Path(__file__).with_name("decoder_cases.json")
    lines = ",\n".join(json.dumps(each, separators=(",", ":")) for each in cases)
    path.write_text('{"transformers":"%s","cases":[\n%s\n]}\n' % (tf.__version__, lines))


if __name__ == "__main__":
    main()
