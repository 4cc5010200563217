"""Writes adapter_cases.json: what PEFT computes with LoRA adapters of small models.

    pip install torch transformers peft numpy && python adapter_cases.py

The weights of the models are made as in encoder_cases.py, those of an adapter likewise, numbered from 1000 in the order
of their names.
"""

import json
import pathlib
import tempfile

import numpy as np
import peft
import safetensors
import safetensors.numpy
import torch
import transformers as tf
from decoder_cases import IDS, KEYS as DECODER_KEYS
from encoder_cases import KEYS as ENCODER_KEYS, ROWS, TYPES, fill, values

LLAMA = dict(vocab_size=50, hidden_size=24, num_attention_heads=6, num_key_value_heads=2, num_hidden_layers=3,
             intermediate_size=40, max_position_embeddings=64, rope_parameters={"rope_type": "default", "rope_theta": 500.0})
GPT2 = dict(vocab_size=50, n_positions=64, n_embd=24, n_head=3, n_layer=2, n_inner=40)
GPT2_KEYS = {"model_type", "vocab_size", "n_positions", "n_embd", "n_head", "n_layer", "n_inner", "tie_word_embeddings"}
BERT = dict(vocab_size=60, max_position_embeddings=24, hidden_size=24, num_attention_heads=3, num_hidden_layers=3,
            intermediate_size=40, num_labels=3)
FIRST_NUMBER = 1000


def decoded(model):
    return model(torch.tensor([IDS])).logits[0]


def encoded(model):
    pad = model.config.pad_token_id
    ids = torch.tensor([[pad if i == "pad" else i for i in row] for row in ROWS])
    mask = torch.tensor([[i != "pad" for i in row] for row in ROWS]).long()
    return model(input_ids=ids, attention_mask=mask, token_type_ids=torch.tensor(TYPES)).logits


def numbers(tensor):
    return [float(f"{x:.9g}") for x in tensor.flatten().tolist()]


def case(name, model, keys, run, adapters):
    """The outputs of a model, and with each of its adapters."""
    model.eval()
    tensors = fill(model)
    config = json.loads(model.config.to_json_string(use_diff=False))
    config["architectures"] = [type(model).__name__]
    result = {"name": name, "config": {key: config[key] for key in sorted(config) if key in keys and config[key] is not None},
              "tensors": tensors}
    model = model.double()
    if run is decoded:
        result["ids"] = IDS
    with torch.no_grad():
        result["output"] = numbers(run(model))
    result["adapters"] = []
    for label, options in adapters.items():
        wrapped = peft.get_peft_model(model, peft.LoraConfig(**options))
        made, number = [], FIRST_NUMBER
        with tempfile.TemporaryDirectory() as folder:
            wrapped.save_pretrained(folder)
            stored = safetensors.numpy.load_file(folder + "/adapter_model.safetensors")
            config = json.loads((pathlib.Path(folder) / "adapter_config.json").read_text())
            for key in sorted(stored):
                made.append({"name": key, "shape": list(stored[key].shape)})
                number += 1
                if ".base_layer." in key:  # a copy of the model's weight
                    continue
                stored[key] = (values(number - 1, key, stored[key].shape) * np.float32(8)).astype(np.float32)
            safetensors.numpy.save_file(stored, folder + "/adapter_model.safetensors")
            base = wrapped.unload()
            loaded = peft.PeftModel.from_pretrained(base, folder).double()
            with torch.no_grad():
                output = numbers(run(loaded))
            model = loaded.unload()
        kept = {key: config[key] for key in sorted(config) if config[key] is not None and key != "base_model_name_or_path"}
        result["adapters"].append({"name": label, "config": kept, "tensors": made, "output": output})
    return result


def main():
    torch.manual_seed(0)
    clm, cls = dict(task_type="CAUSAL_LM"), dict(task_type="SEQ_CLS")
    cases = [
        case("gpt2", tf.GPT2LMHeadModel(tf.GPT2Config(**GPT2)), GPT2_KEYS, decoded, {
            "plain": dict(r=2, lora_alpha=3, target_modules=["c_attn"], fan_in_fan_out=True, **clm),
            "all": dict(r=3, lora_alpha=6, target_modules=["c_attn", "c_proj", "c_fc"], fan_in_fan_out=True, use_rslora=True, **clm),
            "patterns": dict(r=2, lora_alpha=4, target_modules=["c_attn", "mlp.c_proj"], fan_in_fan_out=True,
                             rank_pattern={"c_attn": 4}, alpha_pattern={"h.1.attn.c_attn": 5}, **clm),
            "head": dict(r=1, lora_alpha=2, target_modules=["lm_head"], fan_in_fan_out=True, **clm),
        }),
        case("llama", tf.LlamaForCausalLM(tf.LlamaConfig(**LLAMA)), DECODER_KEYS, decoded, {
            "attention": dict(r=4, lora_alpha=8, target_modules=["q_proj", "v_proj"], **clm),
            "linear": dict(r=2, lora_alpha=2, target_modules="all-linear", **clm),
            "layers": dict(r=8, lora_alpha=4, target_modules=["q_proj", "k_proj", "up_proj"], layers_to_transform=[0, 2],
                           layers_pattern="layers", **clm),
            "regex": dict(r=1, lora_alpha=16, target_modules=r".*layers\.1\..*(down|gate)_proj", **clm),
        }),
        case("bert", tf.BertForSequenceClassification(tf.BertConfig(**BERT)), ENCODER_KEYS, encoded, {
            "query": dict(r=2, lora_alpha=4, target_modules=["query", "value"]),
            "dense": dict(r=3, lora_alpha=3, target_modules=["dense"]),
            "saved": dict(r=2, lora_alpha=4, target_modules=["key"], **cls),
        }),
    ]
    path = pathlib.Path(__file__).with_name("adapter_cases.json")
    lines = ",\n".join(json.dumps(each, separators=(",", ":"), sort_keys=True, default=list) for each in cases)
    path.write_text('{"transformers":"%s","peft":"%s","cases":[\n%s\n]}\n' % (tf.__version__, peft.__version__, lines))


if __name__ == "__main__":
    main()
