"""One measurement of one peer on one workload. The last line of the output is a JSON object.

    measure.py ENGINE WORK MODELS --threads K --seconds S --logits FILE

Without --seconds, only the first logits are computed. On the monotonic clock, `interpreter_clock_ns` is the time at which Python and the
peer's modules were loaded, and `first_logits_clock_ns` the time of the first logits."""
import argparse
import json
import os
import pathlib
import resource
import time

import workloads

options = argparse.ArgumentParser()
options.add_argument("engine")
options.add_argument("work")
options.add_argument("models", type=pathlib.Path)
options.add_argument("--threads", type=int, default=2)
options.add_argument("--seconds", type=float, default=0)
options.add_argument("--logits", type=pathlib.Path)
options.add_argument("--precision", choices=workloads.PRECISIONS, default="f32")
options = options.parse_args()
for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[variable] = str(options.threads)
os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(options.models.parent / "inductor"))

import numpy as np

import recipe

WORK = workloads.same_result(options.work)
LENGTH, ROWS = workloads.length(WORK)
DECODES, IS_GPT2 = "decode" in WORK, workloads.is_gpt2(WORK)
IDS = recipe.ids(ROWS, LENGTH, 50257 if IS_GPT2 else 30522)


def next_token():
    return json.loads((options.models / "decode.json").read_text())["token"]


class Torch:
    def __init__(self):
        import torch

        self.torch, self.version = torch, torch.__version__
        torch.set_num_threads(options.threads)
        torch.set_grad_enabled(False)

    def load(self):
        import torch_models
        from safetensors.torch import load_file

        name = "gpt2" if IS_GPT2 else "distilbert"
        made = torch_models.Gpt2() if IS_GPT2 else torch_models.DistilBert()
        made.take(load_file(options.models / name / "model.safetensors"))
        if options.precision == "16":
            made.to(self.torch.bfloat16)
        ids = self.torch.from_numpy(IDS)
        self.inputs = (ids,) if IS_GPT2 else (ids, self.torch.ones(ids.shape, dtype=self.torch.bool))
        if DECODES:
            _, *states = made(ids)
            self.inputs = (self.torch.tensor([[next_token()]]), *states)
        self.model = self.ready(made)

    def ready(self, made):
        return made

    def run(self):
        result = self.model(*self.inputs)
        return (result[0] if IS_GPT2 else result).float().numpy()


class TorchCompiled(Torch):
    def ready(self, made):
        import torch._inductor.config

        torch = self.torch
        torch._inductor.config.freezing = True
        return torch.compile(made, dynamic=False)


class OnnxRuntime:
    def __init__(self):
        import onnxruntime

        self.ort, self.version = onnxruntime, onnxruntime.__version__

    def load(self):
        settings = self.ort.SessionOptions()
        settings.intra_op_num_threads, settings.inter_op_num_threads = options.threads, 1
        folder = {"f32": "onnx", "8": "onnx-int8"}[options.precision]
        session = self.ort.InferenceSession(options.models / folder / WORK / "model.onnx", settings, ["CPUExecutionProvider"])
        self.binding = session.io_binding()
        for name, value in inputs_of(lambda: self.states()):
            self.binding.bind_cpu_input(name, value)
        for output in session.get_outputs():
            self.binding.bind_output(output.name)
        self.session = session

    def states(self):
        first = self.ort.InferenceSession(options.models / "onnx" / "gpt2-prefill-128" / "model.onnx", providers=["CPUExecutionProvider"])
        return first.run(None, {"ids": IDS})[1:]

    def run(self):
        self.session.run_with_iobinding(self.binding)
        return self.binding.get_outputs()[0].numpy()


class OpenVino:
    def __init__(self):
        import openvino

        self.ov, self.version = openvino, openvino.__version__

    def load(self):
        core = self.ov.Core()
        hint = "bf16" if options.precision == "16" else "f32"
        settings = {"INFERENCE_NUM_THREADS": options.threads, "INFERENCE_PRECISION_HINT": hint, "PERFORMANCE_HINT": "LATENCY"}
        folder = "openvino-int8" if options.precision == "8" else "openvino"
        compiled = core.compile_model(options.models / folder / f"{WORK}.xml", "CPU", settings)
        self.request = compiled.create_infer_request()
        for name, value in inputs_of(lambda: self.states(core, settings)):
            self.request.set_tensor(name, self.ov.Tensor(value))

    def states(self, core, settings):
        result = core.compile_model(options.models / "openvino" / "gpt2-prefill-128.xml", "CPU", settings)({"ids": IDS})
        return [np.copy(result[i]) for i in range(1, 25)]

    def run(self):
        self.request.infer()
        return self.request.get_output_tensor(0).data


def inputs_of(states):
    """(name, array) of the inputs of the exported models; `states()` computes cached keys and values."""
    if not IS_GPT2:
        return [("ids", IDS), ("mask", np.ones(IDS.shape, dtype=bool))]
    if not DECODES:
        return [("ids", IDS)]
    names = [f"past_{kind}.{i}" for i in range(12) for kind in ("keys", "values")]
    return [("ids", np.array([[next_token()]])), *zip(names, map(np.ascontiguousarray, states()))]


class Llama:
    """llama.cpp by its C interface, keys and values in f32. Texts run one after the other, which is faster than as a batch."""

    def __init__(self):
        import llama_cpp

        self.lib, self.version = llama_cpp, llama_cpp.__version__

    def load(self):
        lib = self.lib
        self.silent = lib.llama_log_callback(lambda level, text, data: None)
        lib.llama_log_set(self.silent, None)
        lib.llama_backend_init()
        name = ("gpt2" if IS_GPT2 else "distilbert") + {"f32": "", "16": "-bf16", "8": "-q8_0"}[options.precision]
        how = lib.llama_model_default_params()
        if options.precision == "8":
            how.use_extra_bufts = False  # with repacked weights this version crashes on CPUs with AMX
        self.model = lib.llama_model_load_from_file(str(options.models / f"{name}.gguf").encode(), how)
        settings = lib.llama_context_default_params()
        settings.n_ctx, settings.n_batch, settings.n_ubatch = (1024 if IS_GPT2 else 512), 512, 512
        settings.n_threads = settings.n_threads_batch = options.threads
        settings.type_k = settings.type_v = 0
        settings.flash_attn_type = int(os.environ.get("PEERS_FLASH", "0"))
        settings.embeddings = not IS_GPT2
        self.context = lib.llama_init_from_model(self.model, settings)
        self.batch = lib.llama_batch_init(512, 0, 1)
        if not IS_GPT2:
            head = np.load(options.models / "head.npz")
            self.head = [head[name] for name in ("pre_classifier.weight", "pre_classifier.bias", "classifier.weight", "classifier.bias")]
        elif DECODES:
            self.put(IDS[0], 0)

    def put(self, ids, first):
        batch = self.batch
        batch.n_tokens = len(ids)
        for i, token in enumerate(ids):
            batch.token[i], batch.pos[i], batch.n_seq_id[i], batch.seq_id[i][0] = int(token), first + i, 1, 0
            batch.logits[i] = 1 if not IS_GPT2 or i + 1 == len(ids) else 0
        if self.lib.llama_decode(self.context, batch) != 0:
            raise RuntimeError("llama_decode failed")

    def run(self):
        lib = self.lib
        if not IS_GPT2:
            rows = []
            for row in IDS:
                self.put(row, 0)
                rows.append(np.array(lib.llama_get_embeddings_ith(self.context, 0)[:768], dtype=np.float32))
            pre, pre_bias, last, last_bias = self.head
            return np.maximum(np.stack(rows) @ pre.T + pre_bias, 0) @ last.T + last_bias
        memory = lib.llama_get_memory(self.context)
        lib.llama_memory_seq_rm(memory, 0, LENGTH if DECODES else 0, -1)
        self.put([next_token()] if DECODES else IDS[0], LENGTH if DECODES else 0)
        return np.ctypeslib.as_array(lib.llama_get_logits_ith(self.context, -1), (50257,))


class CTranslate2:
    def __init__(self):
        import ctranslate2

        self.lib, self.version = ctranslate2, ctranslate2.__version__

    def load(self):
        computed = {"f32": "float32", "16": "bfloat16", "8": "int8_float32"}[options.precision]
        settings = {"device": "cpu", "compute_type": computed, "inter_threads": 1, "intra_threads": options.threads}
        if IS_GPT2:
            self.model = self.lib.Generator(str(options.models / "ctranslate2" / "gpt2"), **settings)
            self.tokens = [[f"t{i}" for i in IDS[0]]]
        else:
            self.model = self.lib.Encoder(str(options.models / "ctranslate2" / "distilbert"), **settings)
            self.tokens = IDS.tolist()
            head = np.load(options.models / "head.npz")
            self.head = [head[name] for name in ("pre_classifier.weight", "pre_classifier.bias", "classifier.weight", "classifier.bias")]

    def run(self):
        if not IS_GPT2:
            hidden = np.array(self.model.forward_batch(self.tokens).last_hidden_state)[:, 0]
            pre, pre_bias, last, last_bias = self.head
            return np.maximum(hidden @ pre.T + pre_bias, 0) @ last.T + last_bias
        steps = 2 if DECODES else 1
        result = self.model.generate_batch(self.tokens, max_length=steps, min_length=steps, include_prompt_in_result=False,
                                           return_logits_vocab=True, sampling_topk=1, end_token=[])
        return np.array(result[0].logits[0][-1])

    def times(self, seconds):
        """Nanoseconds between decoded tokens: 16 intervals after the prompt and the first token of each run. None if not decoding."""
        if not DECODES:
            return None
        all_times = []
        while sum(all_times) < 1e9 * seconds:
            clock = []
            self.model.generate_batch(self.tokens, max_length=18, min_length=18, include_prompt_in_result=False, sampling_topk=1, end_token=[],
                                      callback=lambda step: clock.append(time.monotonic_ns()) and False)
            all_times += [float(b - a) for a, b in zip(clock[1:], clock[2:])]
        return all_times


ENGINES = {"torch-eager": Torch, "torch-compile": TorchCompiled, "onnxruntime": OnnxRuntime, "openvino": OpenVino, "llama.cpp": Llama,
           "ctranslate2": CTranslate2}


def timed(run, seconds):
    """Nanoseconds of iterations: at least five, up to `seconds`, after a warm-up of at least two and half a second."""
    def one():
        begin = time.monotonic_ns()
        run()
        return float(time.monotonic_ns() - begin)

    warm = one() + one()
    while warm < 5e8:
        warm += one()
    times = []
    while len(times) < 5 or sum(times) < 1e9 * seconds:
        times.append(one())
    return times


engine = ENGINES[options.engine]()
interpreter = time.monotonic_ns()
engine.load()
logits = engine.run()
first = time.monotonic_ns()
if options.logits:
    np.asarray(logits, dtype=np.float32).tofile(options.logits)
result = {"version": engine.version, "interpreter_clock_ns": interpreter, "first_logits_clock_ns": first}
if options.seconds:
    result["iterations_ns"] = (engine.times(options.seconds) if hasattr(engine, "times") else None) or timed(engine.run, options.seconds)
result["peak_resident_bytes"] = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps(result), flush=True)
os._exit(0)
