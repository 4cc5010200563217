"""One row of PyTorch on a GPU: a workload in one precision and one mode.

    torch_gpu.py WORK f32|tf32|f16 eager|compiled|captured      (WORK: gpt2-step-128, distilbert-8x128, ...)

Prints JSON objects: {"ready": true} once it is prepared, then a measurement for each line of its input, or
{"fault": ...} at any time. `card_us` is the time on the GPU by events, behind a kernel that sleeps meanwhile, so that the host's
launches leave no gaps; `wall_us` is the time from the call to the logits in host memory. Medians. `error` is the
relative L2 distance of the logits from those of an eager run in f32. Weights are random, which changes no time.

eager: plain modules. compiled: torch.compile, reduce-overhead, which replays CUDA graphs. captured: a CUDA graph of the
plain modules, captured by hand. A step of GPT-2 writes into a static cache of just the length it needs."""
import json
import statistics
import sys
import time

import torch
from torch.nn import functional as F

import torch_models

WORK, PRECISION, MODE = sys.argv[1:4]
FAMILY, *KIND = WORK.split("-")
STARTED = time.monotonic()


def say(**row):
    print(json.dumps(row), flush=True)


def random_weights(model):
    """Values of the size that a trained model has; norms and their biases keep theirs."""
    torch.manual_seed(1)
    for module in model.modules():
        if isinstance(module, (torch.nn.Linear, torch.nn.Embedding)):
            torch.nn.init.normal_(module.weight, std=0.02)
            if getattr(module, "bias", None) is not None:
                torch.nn.init.normal_(module.bias, std=0.02)
    return model.eval()


class Step(torch.nn.Module):
    """One token of GPT-2 after others, whose keys and values lie in a static cache."""

    def __init__(self, model, past):
        super().__init__()
        self.model = model
        length = past[0].shape[2]
        for name, state in zip((f"{kind}_{i}" for i in range(len(model.layers)) for kind in ("keys", "values")), past):
            cache = state.new_zeros(*state.shape[:2], length + 1, state.shape[3])
            cache[:, :, :length] = state
            self.register_buffer(name, cache)
        self.register_buffer("position", torch.tensor([length], device=past[0].device))

    def forward(self, ids):
        model = self.model
        x = model.tokens(ids) + model.positions(self.position)
        for i, layer in enumerate(model.layers):
            qkv = layer.qkv(layer.ln_1(x)).split(torch_models.WIDTH, 2)
            q, k, v = map(torch_models.split_heads, qkv)
            keys, values = getattr(self, f"keys_{i}"), getattr(self, f"values_{i}")
            keys.index_copy_(2, self.position, k)
            values.index_copy_(2, self.position, v)
            x = x + layer.out(torch_models.join_heads(F.scaled_dot_product_attention(q, keys, values)))
            x = x + layer.down(F.gelu(layer.up(layer.ln_2(x)), approximate="tanh"))
        return F.linear(model.norm(x[:, -1]), model.tokens.weight)


def work_of(device):
    """The work as a function without arguments that returns logits, and its module."""
    vocabulary = 50257 if FAMILY == "gpt2" else 30522
    rows, length = (1, int(KIND[1])) if FAMILY == "gpt2" else map(int, KIND[0].split("x"))
    ids = torch.randint(0, vocabulary, (rows, length), generator=torch.Generator().manual_seed(2)).to(device)
    with torch.device(device):
        model = random_weights(torch_models.Gpt2() if FAMILY == "gpt2" else torch_models.DistilBert())
    if FAMILY == "distilbert":
        return model, lambda: model(ids)
    if KIND[0] == "prompt":
        return model, lambda: model(ids)[0]
    step, token = Step(model, model(ids)[1:]), ids[:, -1:].clone()
    return step, lambda: step(token)


def captured(work):
    """A CUDA graph of the work."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            work()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):
        logits = work()

    def replay():
        graph.replay()
        return logits

    return replay


def compiled(work):
    function = torch.compile(work, mode="reduce-overhead", dynamic=False)

    def step():
        torch.compiler.cudagraph_mark_step_begin()
        return function()

    for _ in range(4):  # the first calls compile, record and replay
        step()
    return step


def card_us(run):
    """Microseconds on the GPU of one run; several are timed together unless the host is slower than the GPU."""
    repeats, sleep_cycles = (1, 60_000_000) if MODE == "eager" else (10, 10_000_000)
    times = []
    for _ in range(9 if MODE == "eager" else 17):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        torch.cuda._sleep(sleep_cycles)
        begin.record()
        for _ in range(repeats):
            run()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) * 1e3 / repeats)
    return statistics.median(times[2:])


def wall_us(run):
    """Microseconds from the call to the logits in host memory."""
    logits = run()
    host = torch.empty(logits.shape, dtype=logits.dtype, pin_memory=True)
    times = []
    for _ in range(25 if MODE == "eager" else 60):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        host.copy_(run(), non_blocking=True)
        torch.cuda.synchronize()
        times.append((time.perf_counter() - begin) * 1e6)
    return statistics.median(times[5:])


def main():
    torch.set_grad_enabled(False)
    module, work = work_of("cuda")
    wanted = work().float().clone()
    if PRECISION == "f16":
        module.half()
    torch.set_float32_matmul_precision("high" if PRECISION == "tf32" else "highest")
    run = {"eager": lambda: work, "compiled": lambda: compiled(work), "captured": lambda: captured(work)}[MODE]()
    error = ((run().float() - wanted).norm() / wanted.norm()).item()
    torch.cuda.synchronize()
    prepared = round(time.monotonic() - STARTED, 1)
    say(ready=True, prepared_s=prepared)
    for _ in sys.stdin:
        say(card_us=round(card_us(run), 2), wall_us=round(wall_us(run), 2), error=error, prepared_s=prepared,
            torch=torch.__version__)


try:
    main()
except Exception as fault:  # of any library: the caller wants it as a row
    say(fault=f"{type(fault).__name__}: {str(fault)[:600]}")
    raise
