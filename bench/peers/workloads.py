"""The workloads, by name (title, model, arguments of model_bench), and the engines."""
import typing

WORKS = {
    "gpt2-prefill-128": ("GPT-2 124M, prompt of 128 tokens", "gpt2", ["--work", "prefill", "--length", "128"]),
    "gpt2-prefill-512": ("GPT-2 124M, prompt of 512 tokens", "gpt2", ["--work", "prefill", "--length", "512"]),
    "gpt2-decode-128": ("GPT-2 124M, a token after 128", "gpt2", ["--work", "decode", "--length", "128"]),
    "distilbert-1x128": ("DistilBERT, 1 text of 128 tokens", "distilbert", ["--work", "classify", "--length", "128"]),
    "distilbert-8x128": ("DistilBERT, 8 texts of 128 tokens", "distilbert",
                         ["--work", "classify", "--length", "128", "--batch", "8"]),
    "gpt2-start": ("GPT-2 124M, start to the logits of 128 tokens", "gpt2", ["--work", "prefill", "--length", "128"]),
    "distilbert-start": ("DistilBERT, start to the logits of 1 text", "distilbert",
                         ["--work", "classify", "--length", "128"]),
}

ENGINES = {
    "cairn-tuned": "Cairn, tuned",
    "cairn-untuned": "Cairn, untuned",
    "cairn-kept": "Cairn, kept ready",
    "onnxruntime": "ONNX Runtime",
    "openvino": "OpenVINO",
    "torch-compile": "PyTorch, compiled and frozen",
    "torch-eager": "PyTorch, eager",
    "llama.cpp": "llama.cpp",
    "ctranslate2": "CTranslate2",
}

MAX_DISTURBANCE = 0.15


class Precision(typing.NamedTuple):
    """What the engines may compute in."""

    title: str
    tolerance: float | None  # that Cairn is given
    largest_error: float  # of a ranked engine
    engines: frozenset  # that have it


PRECISIONS = {
    "f32": Precision("f32", None, 1e-3, frozenset(ENGINES)),
    "16": Precision("bf16 (Cairn: within a tolerance of 0.05)", 0.05, 0.05, frozenset(ENGINES) - {"onnxruntime"}),
    "8": Precision("weights of 8 bits (Cairn: within a tolerance of 0.1)", 0.1, 0.2, frozenset(ENGINES) - {"torch-eager", "torch-compile"}),
}


def is_start(work):
    return work.endswith("-start")


def is_done_by(engine, work):
    """The engine that loads a saved model is measured on starts only."""
    return engine != "cairn-kept" or is_start(work)


def is_gpt2(work):
    return work.startswith("gpt2")


def same_result(work):
    """The workload with the same logits: a start has those of the timed workload."""
    return {"gpt2-start": "gpt2-prefill-128", "distilbert-start": "distilbert-1x128"}.get(work, work)


def length(work):
    """(tokens of a text, number of texts)"""
    return {"gpt2-prefill-512": (512, 1), "distilbert-8x128": (128, 8)}.get(work, (128, 1))
