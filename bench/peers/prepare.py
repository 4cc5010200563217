"""Writes the files that the peers load into a folder; one call writes one part.

    prepare.py FOLDER GOLDEN PART

weights: config.json and model.safetensors, as Hugging Face lays them out. reference: logits in float64. onnx, openvino, llama, ctranslate2: the
same models in each peer's format, in f32. onnx-int8, openvino-int8, llama-bf16, llama-q8_0: converted by the peers' own tools."""
import json
import pathlib
import sys

import numpy as np

import recipe
import workloads

FOLDER, GOLDEN, PART = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
CONFIGS = {
    "gpt2": {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "vocab_size": 50257, "n_positions": 1024, "n_embd": 768,
             "n_head": 12, "n_layer": 12, "n_inner": None, "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5},
    "distilbert": {"model_type": "distilbert", "architectures": ["DistilBertForSequenceClassification"], "vocab_size": 30522,
                   "max_position_embeddings": 512, "dim": 768, "n_heads": 12, "n_layers": 6, "hidden_dim": 3072, "activation": "gelu",
                   "id2label": {"0": "LABEL_0", "1": "LABEL_1"}},
}


def weights():
    from safetensors.numpy import save_file

    for model, config in CONFIGS.items():
        folder = FOLDER / model
        folder.mkdir(parents=True, exist_ok=True)
        save_file(dict(recipe.weights(GOLDEN, model)), folder / "model.safetensors", metadata={"format": "pt"})
        (folder / "config.json").write_text(json.dumps(config, indent=1))
    # The classifier head, for peers that run the encoder only.
    np.savez(FOLDER / "head.npz", **{name: array for name, array in recipe.weights(GOLDEN, "distilbert") if "classifier" in name})


def arrays(model):
    from safetensors.numpy import load_file

    return load_file(FOLDER / model / "model.safetensors")


def torch_model(model):
    import torch
    from safetensors.torch import load_file

    import torch_models

    made = torch_models.Gpt2() if model == "gpt2" else torch_models.DistilBert()
    torch.set_grad_enabled(False)
    return made.take(load_file(FOLDER / model / "model.safetensors"))


def reference():
    """Writes float64 logits of each workload, and the token that decoding adds: the most likely one after the prompt."""
    import torch

    torch.set_grad_enabled(False)
    model = torch_model("gpt2").double()
    for length in (512, 128):
        logits, *states = model(torch.from_numpy(recipe.ids(1, length, 50257)))
        logits[0].numpy().tofile(FOLDER / f"gpt2-prefill-{length}.f64")
    token = int(logits[0].argmax())
    (FOLDER / "decode.json").write_text(json.dumps({"token": token}))
    model(torch.tensor([[token]]), *states)[0][0].numpy().tofile(FOLDER / "gpt2-decode-128.f64")
    model = torch_model("distilbert").double()
    for rows in (1, 8):
        ids = torch.from_numpy(recipe.ids(rows, 128, 30522))
        model(ids, torch.ones(ids.shape, dtype=torch.bool)).numpy().tofile(FOLDER / f"distilbert-{rows}x128.f64")


def onnx():
    import torch

    models = {"gpt2": torch_model("gpt2"), "distilbert": torch_model("distilbert")}
    for work in workloads.WORKS:
        if workloads.is_start(work):
            continue
        length, rows = workloads.length(work)
        names = []
        if workloads.is_gpt2(work):
            ids = torch.from_numpy(recipe.ids(1, length, 50257))
            names = ["ids"]
            inputs = (ids,)
            outputs = ["logits"] + [f"{kind}.{i}" for i in range(12) for kind in ("keys", "values")]
            if "decode" in work:
                past = [torch.zeros(1, 12, length, 64) for _ in range(24)]
                inputs = (ids[:, :1], *past)
                names += [f"past_{kind}.{i}" for i in range(12) for kind in ("keys", "values")]
            model = models["gpt2"]
        else:
            ids = torch.from_numpy(recipe.ids(rows, length, 30522))
            names, inputs, outputs, model = ["ids", "mask"], (ids, torch.ones(ids.shape, dtype=torch.bool)), ["logits"], models["distilbert"]
        folder = FOLDER / "onnx" / work
        folder.mkdir(parents=True, exist_ok=True)
        torch.onnx.export(model, inputs, folder / "model.onnx", input_names=names, output_names=outputs, dynamo=True,
                          external_data=True, opset_version=20)


def openvino():
    import openvino as ov

    for work in workloads.WORKS:
        if workloads.is_start(work):
            continue
        (FOLDER / "openvino").mkdir(exist_ok=True)
        model = ov.Core().read_model(FOLDER / "onnx" / work / "model.onnx")
        ov.save_model(model, FOLDER / "openvino" / f"{work}.xml", compress_to_fp16=False)


def llama():
    import gguf

    def writer(name, arch, layers, positions, vocabulary):
        made = gguf.GGUFWriter(FOLDER / f"{name}.gguf", arch)
        made.add_block_count(layers)
        made.add_context_length(positions)
        made.add_embedding_length(768)
        made.add_feed_forward_length(3072)
        made.add_head_count(12)
        made.add_vocab_size(vocabulary)
        made.add_tokenizer_model("no_vocab")
        made.add_file_type(gguf.LlamaFileType.ALL_F32)
        return made

    def finish(made):
        made.write_header_to_file()
        made.write_kv_data_to_file()
        made.write_tensors_to_file()
        made.close()

    w = arrays("gpt2")
    made = writer("gpt2", "gpt2", 12, 1024, 50257)
    made.add_layer_norm_eps(1e-5)
    made.add_tensor("token_embd.weight", w["transformer.wte.weight"])
    made.add_tensor("output.weight", w["transformer.wte.weight"])
    made.add_tensor("position_embd.weight", w["transformer.wpe.weight"])
    names = {"ln_1": "attn_norm", "ln_2": "ffn_norm", "attn.c_attn": "attn_qkv", "attn.c_proj": "attn_output",
             "mlp.c_fc": "ffn_up", "mlp.c_proj": "ffn_down"}
    for part in ("weight", "bias"):
        made.add_tensor(f"output_norm.{part}", w[f"transformer.ln_f.{part}"])
        for i in range(12):
            for theirs, ours in names.items():
                tensor = w[f"transformer.h.{i}.{theirs}.{part}"]
                made.add_tensor(f"blk.{i}.{ours}.{part}", np.ascontiguousarray(tensor.T))
    finish(made)

    w = arrays("distilbert")
    made = writer("distilbert", "bert", 6, 512, 30522)
    made.add_layer_norm_eps(1e-12)
    made.add_causal_attention(False)
    made.add_token_type_count(1)
    made.add_pooling_type(gguf.PoolingType.NONE)
    made.add_tensor("token_embd.weight", w["distilbert.embeddings.word_embeddings.weight"])
    made.add_tensor("position_embd.weight", w["distilbert.embeddings.position_embeddings.weight"])
    made.add_tensor("token_types.weight", np.zeros((1, 768), dtype=np.float32))
    names = {"attention.q_lin": "attn_q", "attention.k_lin": "attn_k", "attention.v_lin": "attn_v", "attention.out_lin": "attn_output",
             "sa_layer_norm": "attn_output_norm", "output_layer_norm": "layer_output_norm", "ffn.lin1": "ffn_up", "ffn.lin2": "ffn_down"}
    for part in ("weight", "bias"):
        made.add_tensor(f"token_embd_norm.{part}", w[f"distilbert.embeddings.LayerNorm.{part}"])
        for i in range(6):
            for theirs, ours in names.items():
                made.add_tensor(f"blk.{i}.{ours}.{part}", w[f"distilbert.transformer.layer.{i}.{theirs}.{part}"])
    finish(made)


def onnx_int8():
    from onnxruntime.quantization import QuantType, quantize_dynamic

    for work in workloads.WORKS:
        if workloads.is_start(work):
            continue
        folder = FOLDER / "onnx-int8" / work
        folder.mkdir(parents=True, exist_ok=True)
        quantize_dynamic(FOLDER / "onnx" / work / "model.onnx", folder / "model.onnx", per_channel=True, weight_type=QuantType.QInt8)


def openvino_int8():
    import nncf
    import openvino as ov

    for work in workloads.WORKS:
        if workloads.is_start(work):
            continue
        (FOLDER / "openvino-int8").mkdir(exist_ok=True)
        model = nncf.compress_weights(ov.Core().read_model(FOLDER / "onnx" / work / "model.onnx"), mode=nncf.CompressWeightsMode.INT8_SYM)
        ov.save_model(model, FOLDER / "openvino-int8" / f"{work}.xml", compress_to_fp16=False)


def llama_quantized(suffix, file_type):
    import llama_cpp as lib

    silent = lib.llama_log_callback(lambda level, text, data: None)
    lib.llama_log_set(silent, None)
    settings = lib.llama_model_quantize_default_params()
    settings.ftype = file_type
    for name in ("gpt2", "distilbert"):
        done = lib.llama_model_quantize(str(FOLDER / f"{name}.gguf").encode(), str(FOLDER / f"{name}-{suffix}.gguf").encode(), settings)
        if done != 0:
            raise SystemExit(f"llama_model_quantize failed for {name}: {done}")


def llama_bf16():
    import llama_cpp

    llama_quantized("bf16", llama_cpp.LLAMA_FTYPE_MOSTLY_BF16)


def llama_q8_0():
    import llama_cpp

    llama_quantized("q8_0", llama_cpp.LLAMA_FTYPE_MOSTLY_Q8_0)


def ctranslate2():
    from ctranslate2.specs import common_spec, transformer_spec

    def linear(spec, weight, bias):
        spec.weight, spec.bias = np.ascontiguousarray(weight), bias

    def norm(spec, w, name):
        spec.gamma, spec.beta = w[f"{name}.weight"], w[f"{name}.bias"]

    def save(spec, name, vocabulary):
        spec.register_vocabulary([f"t{i}" for i in range(vocabulary)])
        spec.validate()
        spec.optimize(quantization="float32")
        (FOLDER / "ctranslate2" / name).mkdir(parents=True, exist_ok=True)
        spec.save(str(FOLDER / "ctranslate2" / name))

    w = arrays("gpt2")
    spec = transformer_spec.TransformerDecoderModelSpec.from_config(12, 12, pre_norm=True, activation=common_spec.Activation.GELUTanh)
    spec.config.bos_token = spec.config.eos_token = spec.config.unk_token = "t50256"
    decoder = spec.decoder
    decoder.scale_embeddings = False
    decoder.embeddings.weight = w["transformer.wte.weight"]
    decoder.projection.weight = w["transformer.wte.weight"]
    decoder.position_encodings.encodings = w["transformer.wpe.weight"]
    norm(decoder.layer_norm, w, "transformer.ln_f")
    for i, layer in enumerate(decoder.layer):
        h = f"transformer.h.{i}"
        norm(layer.self_attention.layer_norm, w, f"{h}.ln_1")
        norm(layer.ffn.layer_norm, w, f"{h}.ln_2")
        for of, name in ((layer.self_attention.linear[0], "attn.c_attn"), (layer.self_attention.linear[1], "attn.c_proj"),
                         (layer.ffn.linear_0, "mlp.c_fc"), (layer.ffn.linear_1, "mlp.c_proj")):
            linear(of, w[f"{h}.{name}.weight"].T, w[f"{h}.{name}.bias"])
    save(spec, "gpt2", 50257)

    w = arrays("distilbert")
    encoder = transformer_spec.TransformerEncoderSpec(6, 12, pre_norm=False, activation=common_spec.Activation.GELU, layernorm_embedding=True)
    spec = transformer_spec.TransformerEncoderModelSpec(encoder)
    spec.config.layer_norm_epsilon, spec.config.unk_token = 1e-12, "t0"
    encoder.scale_embeddings = False
    encoder.embeddings[0].weight = w["distilbert.embeddings.word_embeddings.weight"]
    encoder.position_encodings.encodings = w["distilbert.embeddings.position_embeddings.weight"]
    norm(encoder.layernorm_embedding, w, "distilbert.embeddings.LayerNorm")
    for i, layer in enumerate(encoder.layer):
        h = f"distilbert.transformer.layer.{i}"
        qkv = [f"{h}.attention.{name}_lin" for name in "qkv"]
        linear(layer.self_attention.linear[0], np.concatenate([w[f"{name}.weight"] for name in qkv]),
               np.concatenate([w[f"{name}.bias"] for name in qkv]))
        linear(layer.self_attention.linear[1], w[f"{h}.attention.out_lin.weight"], w[f"{h}.attention.out_lin.bias"])
        norm(layer.self_attention.layer_norm, w, f"{h}.sa_layer_norm")
        linear(layer.ffn.linear_0, w[f"{h}.ffn.lin1.weight"], w[f"{h}.ffn.lin1.bias"])
        linear(layer.ffn.linear_1, w[f"{h}.ffn.lin2.weight"], w[f"{h}.ffn.lin2.bias"])
        norm(layer.ffn.layer_norm, w, f"{h}.output_layer_norm")
    save(spec, "distilbert", 30522)


{"weights": weights, "reference": reference, "onnx": onnx, "openvino": openvino, "llama": llama, "ctranslate2": ctranslate2,
 "onnx-int8": onnx_int8, "openvino-int8": openvino_int8, "llama-bf16": llama_bf16, "llama-q8_0": llama_q8_0}[PART]()
