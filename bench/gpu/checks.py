"""The tests: gpu_test, the example programs on both devices, and compute-sanitizer."""
import contextlib
import json
import os
import pathlib

from gpu import models
from gpu.machine import library_folders, tool
from gpu.pack import ROOT

# Those of gpu_test that a sanitizer, which is ten to a hundred times slower, finishes.
SANITIZED_TESTS = "*ABlockOfATransformer*:*OutOfRange*:*DistilBert*"
# The largest difference of two f32 programs that add in different orders, relative to the size of all logits.
MAX_DIFFERENCE = 1e-4


class Programs:
    """Cairn's programs, unpacked. `small`: they are given bundled models alone."""

    def __init__(self, run, small):
        self.run, self.small = run, small
        # Not for other programs: Python needs libraries of its own. The caller's folders come first.
        given = [folder for folder in [os.environ.get("LD_LIBRARY_PATH")] if folder]
        folders = [*given, os.path.join(run.work, "lib"), *library_folders()]
        self.environment = dict(os.environ, LD_LIBRARY_PATH=":".join(folders))

    def path(self, program):
        return os.path.join(self.run.work, "bin", program)

    def attempt(self, name, program, arguments, limit):
        return self.run.attempt(name, [self.path(program), *arguments], limit, self.environment)

    def half_model(self, model):
        """The folder of a full-size model in f16, which is made when it is first asked for."""
        folder = pathlib.Path(self.run.work, f"{model}-f16")
        return folder if folder.exists() else models.make(model, folder)

    def file(self, name, lines):
        """A file with these lines."""
        path = os.path.join(self.run.work, name)
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in lines)
        return path


def run_gpu_test(programs, limit):
    """All tests of gpu_test, with a line for each."""
    run, report = programs.run, os.path.join(programs.run.work, "gpu_test.json")
    outcome = programs.attempt("gpu_test", "gpu_test", ["--gtest_brief=1", f"--gtest_output=json:{report}"], limit)
    cases = []
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError), open(report, encoding="utf-8") as file:
        cases = [case for suite in json.load(file)["testsuites"] for case in suite["testsuite"]]
    for case in cases:
        faults = "\n".join(str(fault.get("failure")) for fault in case.get("failures", []))
        seconds = float(str(case.get("time", "0s")).rstrip("s") or 0)
        run.emit("tests", f"{case.get('classname')}.{case.get('name')}", "failed" if faults else "ok", seconds, faults)
    status, detail = (outcome.status, outcome.detail()) if cases or not outcome.ok else ("failed", "no test ran")
    run.emit("tests", "gpu_test", status, outcome.seconds, detail, cases=len(cases))


def check_library(programs, limit):
    """Compares the kernels of cuBLASLt with their definitions; gpu_test does not know the library."""
    outcome = programs.attempt("kernels of cuBLASLt", "cairn", ["check", "cuda.cublaslt*", "--device", "cuda"], limit)
    programs.run.emit("tests", "kernels of cuBLASLt", outcome.status, outcome.seconds, outcome.detail())


def on_both_devices(programs, name, program, arguments, limit):
    """What a program prints on the CPU and on the GPU, and the seconds; None, with the failure emitted, if it fails."""
    texts, seconds = [], 0
    for device in ("cpu", "cuda"):
        # Few threads: PyTorch compiles on the other CPUs.
        options = ["--mode", "off", "--no-progress", "--threads", 4, "--device", device]
        outcome = programs.attempt(f"{name}, on {device}", program, [*arguments, *options], limit)
        seconds += outcome.seconds
        if not outcome.ok:
            programs.run.emit("programs", name, outcome.status, seconds, f"on {device}: {outcome.detail()}")
            return None
        texts.append(outcome.out)
    return (*texts, seconds)


def difference(ours, theirs):
    """The L2 distance of two lists of numbers, relative to the second."""
    if len(ours) != len(theirs) or not theirs:
        return float("inf")
    distance, norm = sum((x - y) ** 2 for x, y in zip(ours, theirs)) ** 0.5, sum(y * y for y in theirs) ** 0.5
    return distance / norm if norm > 0 and distance == distance else float("inf")


def compare(programs, name, program, arguments, limit=25):
    """Emits whether a program prints the same on both devices: lines that hold logits may differ a little."""
    printed = on_both_devices(programs, name, program, arguments, limit)
    if printed is None:
        return
    on_cpu, on_gpu = (text.splitlines() for text in printed[:2])
    fault = "" if on_cpu and len(on_cpu) == len(on_gpu) else f"{len(on_cpu)} lines on the CPU, {len(on_gpu)} on the GPU"
    largest = 0.0
    for wanted, got in zip(on_cpu, on_gpu):
        try:
            rows = [json.loads(line) for line in (got, wanted)]
            largest = max(largest, difference(*(row["logits"] if isinstance(row, dict) else row for row in rows)))
        except (ValueError, TypeError, KeyError):
            if got != wanted:
                fault = fault or f"on the CPU: {wanted}; on the GPU: {got}"
    if not largest <= MAX_DIFFERENCE:
        fault = fault or f"the logits differ by {largest:.2e}"
    programs.run.emit("programs", name, "failed" if fault else "ok", printed[2], fault, difference=str(largest))


def run_programs(programs):
    """The example programs on the GPU and on the CPU."""
    models = ROOT / "examples" / "models"
    compare(programs, "text of the bundled GPT-2", "gpt2",
            ["--model", models / "shakespeare-gpt2", "--prompt", "ROMEO:\n", "--greedy", "--print-ids", "--tokens",
             2 if programs.small else 100])
    sentences = programs.file("sentences", ["A wonderful film.", "Two hours, of which the second is the worse one."])
    compare(programs, "logits of the bundled DistilBERT", "distilbert",
            ["--model", models / "sst2-distilbert", "--input", sentences, "--lines", "--json"])
    if programs.small:
        return
    prompts = programs.file("prompts", [json.dumps([7919 * (i + count) % 50257 for i in range(count)])
                                        for count in (1, 17, 512)])
    compare(programs, "logits and 16 tokens of GPT-2 124M", "gpt2",
            ["--synthetic", "--prompt-ids", prompts, "--print-logits", "--tokens", 16, "--greedy", "--print-ids"])


def run_sanitizer(programs):
    for name in ("memcheck", "racecheck"):
        command = [tool("compute-sanitizer"), "--tool", name, "--error-exitcode", 9, programs.path("gpu_test"),
                   "--gtest_brief=1", f"--gtest_filter={SANITIZED_TESTS}"]
        outcome = programs.run.attempt(f"compute-sanitizer {name}", command, 80, programs.environment)
        status = outcome.status
        if status == "absent" or "Device not supported" in outcome.out + outcome.err:
            status = "skipped"
        programs.run.emit("sanitizer", name, status, outcome.seconds, outcome.detail())
