"""What is timed: the ceilings of the card, and Cairn's benchmarks."""
import contextlib
import json

from gpu.pack import ROOT

# name: model, work, tokens of a text, texts
WORKS = {
    "gpt2-step-128": ("gpt2", "decode", 128, 1),
    "gpt2-prompt-128": ("gpt2", "prefill", 128, 1),
    "gpt2-prompt-512": ("gpt2", "prefill", 512, 1),
    "distilbert-1x128": ("distilbert", "classify", 128, 1),
    "distilbert-8x128": ("distilbert", "classify", 128, 8),
    "distilbert-32x128": ("distilbert", "classify", 128, 32),
}
# Those that the bundled models differ in, where only the programs are tried.
SMALL_WORKS = ("gpt2-step-128", "gpt2-prompt-128", "distilbert-1x128")


def json_of(line):
    """The object in a line; None if it holds none."""
    with contextlib.suppress(ValueError):
        row = json.loads(line)
        return row if isinstance(row, dict) else None
    return None


def run_ceilings(programs):
    """The rates of the card, as the command cairn measures them."""
    outcome = programs.attempt("ceilings", "cairn", ["doctor", "--device", "cuda", "--json"], 60)
    rates = [row for row in map(json_of, outcome.out.splitlines()) if row is not None]
    detail = "" if outcome.ok and rates else outcome.detail()
    programs.run.emit("ceilings", "calibration", outcome.status, outcome.seconds, detail, rates=rates)


def arguments_of(programs, work, precision):
    """Of model_bench. In f16 the weights are stored so, and logits may have a relative error of 1e-2."""
    model, kind, length, batch = WORKS[work]
    tolerance = [] if precision == "f32" else ["--tolerance", 1e-2]
    if programs.small:
        return ["--model", model, "--work", kind, "--length", 5, "--batch", min(batch, 2), "--iterations", 1,
                "--references", 2, *tolerance]
    weights = ["--model", model, "--synthetic"] if precision == "f32" else ["--model", programs.half_model(model)]
    return [*weights, "--work", kind, "--length", length, "--batch", batch, "--iterations", 50, *tolerance]


def run_bench(programs, work, turn, precision="f32", measured_in=None, dependent_launches=True):
    """A benchmark, whose seconds on the card are those of its profile. Kernels are chosen by estimated times, or by
    times that are measured and kept in a database."""
    arguments = [*arguments_of(programs, work, precision), "--device", "cuda", "--json", "--source-dir", ROOT,
                 "--profile"]
    arguments += ["--mode", "normal", "--budget", 15, "--db", measured_in] if measured_in else ["--mode", "off"]
    name = work
    if not dependent_launches:
        arguments.append("--no-dependent-launches")
        name += ", no dependent launches"
    outcome = programs.attempt(f"bench {name} {precision}", "model_bench", arguments, 120 if programs.small else 40)
    row = next(filter(None, map(json_of, outcome.out.splitlines())), None)
    status, values, detail = outcome.status, {}, outcome.detail()
    if outcome.ok:
        try:
            values = {"wall_us": row["median_ns"] / 1e3,
                      "card_us": 1e6 * sum(each["seconds"] for each in row["profile"]), "error": row["error"],
                      "instructions": row["instructions"], "start_s": row["first_logits_ns"] / 1e9}
            detail = ""
        except (TypeError, KeyError):
            status, detail = "failed", f"it printed no result: {detail}"
    stage = "bench"
    if measured_in:
        stage, values["mode"] = "measured", "measured"
    programs.run.emit(stage, name, status, outcome.seconds, detail, engine="Cairn", precision=precision, turn=turn,
                      **values)
