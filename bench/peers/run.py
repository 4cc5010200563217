#!/usr/bin/env python3
"""Benchmarks Cairn against other engines with the same weights, in alternation. bench/peers/README.md describes the method.

    bench/peers/run.py                          # everything: preparation, tuning, five rounds, the page
    bench/peers/run.py --prepare                # only the preparation, which may run while the machine is busy
    bench/peers/run.py --resume --seconds 60    # continues for about a minute; exit code 3 while work remains
"""
import argparse
import array
import hashlib
import json
import math
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import report
import workloads

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PARTS = ("weights", "reference", "onnx", "openvino", "llama", "ctranslate2")
PARTS_OF = {"f32": (), "16": ("llama-bf16",), "8": ("llama-q8_0", "onnx-int8", "openvino-int8")}
SOURCES = ("prepare.py", "recipe.py", "torch_models.py", "workloads.py")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--precision", choices=workloads.PRECISIONS, default="f32", help="of what the engines compute in; 16 and 8: bits of weights")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--turn-seconds", type=float, default=2, help="of timed iterations in each measurement")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--budget", type=float, default=60, help="seconds for a tune of Cairn")
    parser.add_argument("--cap", type=float, default=240, help="maximum seconds of a measurement")
    parser.add_argument("--engines", default=",".join(workloads.ENGINES), help="names, separated by commas")
    parser.add_argument("--works", default=",".join(workloads.WORKS), help="names, separated by commas")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build" / "peers")
    parser.add_argument("--seconds", type=float, default=math.inf, help="starts no measurement after so many seconds")
    parser.add_argument("--resume", action="store_true", help="keeps the measurements that are done")
    parser.add_argument("--prepare", action="store_true", help="ends before timing")
    parser.add_argument("--page", action="store_true", help="only writes the page of the measurements that are done")
    options = parser.parse_args()
    options.engines, options.works = options.engines.split(","), options.works.split(",")
    for given, known in ((options.engines, workloads.ENGINES), (options.works, workloads.WORKS)):
        for name in given:
            if name not in known:
                parser.error(f"no {name}: it must be one of {', '.join(known)}")
    for name in ("rounds", "threads", "turn_seconds", "cap"):
        if getattr(options, name) <= 0:
            parser.error(f"--{name.replace('_', '-')} must be above 0")
    return options


def python_of(folder):
    return folder / "venv" / "bin" / "python"


def install(folder):
    """Creates a virtual environment with the peers, and installs again if requirements.txt changed."""
    wanted = (HERE / "requirements.txt").read_text()
    done = folder / "venv" / "installed.txt"
    if done.exists() and done.read_text() == wanted:
        return
    folder.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "PIP_CACHE_DIR": str(folder / "pip"), "CMAKE_BUILD_PARALLEL_LEVEL": str(os.cpu_count())}
    if not python_of(folder).exists():
        subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    subprocess.run([python_of(folder), "-m", "pip", "install", "--quiet", "-r", HERE / "requirements.txt"], check=True, env=environment)
    done.write_text(wanted)


def prepare(folder, precision):
    """Runs prepare.py for each part that is missing or was written by other sources."""
    sources = hashlib.sha256(b"".join((HERE / name).read_bytes() for name in SOURCES)).hexdigest()
    models = folder / "models"
    models.mkdir(parents=True, exist_ok=True)
    for part in PARTS + PARTS_OF[precision]:
        done = models / f"{part}.done"
        if done.exists() and done.read_text() == sources:
            continue
        print(f"prepare {part}", flush=True)
        result = subprocess.run([python_of(folder), HERE / "prepare.py", models, ROOT / "tests/golden/full_size_random.json", part],
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if result.returncode != 0:
            raise SystemExit(f"prepare {part} failed:\n{result.stderr[-2000:]}")
        done.write_text(sources)


def read_rows(path):
    if not path.exists():
        return []
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def file_of(options, name):
    """The file or folder of that name for the precision of the run."""
    folder = options.folder if options.precision == "f32" else options.folder / f"{options.precision}-bit"
    return folder / name


def tolerance(options):
    allowed = workloads.PRECISIONS[options.precision].tolerance
    return [] if allowed is None else ["--tolerance", allowed]


def command_of(options, engine, work, logits):
    """The command of a measurement, and the file to delete before it (or None)."""
    models = options.folder / "models"
    timed = not workloads.is_start(work)
    if not engine.startswith("cairn"):
        command = [python_of(options.folder), HERE / "measure.py", engine, work, models, "--threads", options.threads, "--logits", logits,
                   "--precision", options.precision]
        return command + (["--seconds", options.turn_seconds] if timed else []), None
    _, model, task = workloads.WORKS[work]
    tuned = engine != "cairn-untuned"
    database = file_of(options, "tuned.db" if tuned else "untuned.db")
    command = [options.build / "bench" / "model_bench", "--model", models / model, *task, "--threads", options.threads, "--mode", "cached",
               "--db", database, "--logits", logits, "--json", *tolerance(options)]
    if engine == "cairn-kept":
        return [*command, "--iterations", 1, "--cache-dir", file_of(options, "kept") / model], None
    return command + (["--iterations", 5, "--seconds", options.turn_seconds] if timed else ["--iterations", 1]), None if tuned else database


def busy_seconds():
    """CPU seconds of the whole machine, including steal time, and of this process's children."""
    with open("/proc/stat", encoding="utf-8") as file:
        user, nice, system, _, _, interrupts, soft_interrupts, stolen = map(int, file.readline().split()[1:9])
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    every = (user + nice + system + interrupts + soft_interrupts + stolen) / os.sysconf("SC_CLK_TCK")
    return every, children.ru_utime + children.ru_stime


def run_capped(command, seconds):
    """Runs a command. Returns its output, its start on the monotonic clock, and the mean number of CPUs that other processes used.
    Raises RuntimeError if it fails or takes longer than `seconds`; its process group is then killed."""
    every, own = busy_seconds()
    begin = time.monotonic_ns()
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"took longer than {seconds:g} s") from None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    if process.returncode != 0:
        lines = err.strip().splitlines() or ["no message"]
        raise RuntimeError(f"exit code {process.returncode}: {lines[-1][:200]}")
    every_after, own_after = busy_seconds()
    others = max(0, every_after - every - (own_after - own)) / ((time.monotonic_ns() - begin) / 1e9)
    return out, begin, others


def relative_error(logits, reference):
    got, expected = array.array("f"), array.array("d")
    got.frombytes(logits.read_bytes())
    expected.frombytes(reference.read_bytes())
    if len(got) != len(expected):
        raise RuntimeError(f"{len(got)} logits instead of {len(expected)}")
    difference = math.sqrt(sum((a - b) ** 2 for a, b in zip(got, expected)))
    return difference / math.sqrt(sum(b * b for b in expected))


KEPT = ("version", "iterations_ns", "peak_resident_bytes", "plan", "instructions", "needed_flops", "needed_bytes", "features")


def run_measurement(options, number, engine, work):
    row = {"round": number, "engine": engine, "work": work}
    with tempfile.TemporaryDirectory() as folder:
        logits = pathlib.Path(folder) / "logits"
        command, fresh = command_of(options, engine, work, logits)
        if fresh is not None:
            for file in fresh.parent.glob(fresh.name + "*"):
                file.unlink()
        try:
            out, begin, row["others"] = run_capped(command, options.cap)
            result = json.loads(out.strip().splitlines()[-1])
            row |= {name: result[name] for name in KEPT if name in result}
            row["start_ns"] = result["first_logits_clock_ns"] - begin
            row["interpreter_ns"] = result.get("interpreter_clock_ns", begin) - begin
            row["error"] = relative_error(logits, options.folder / "models" / f"{workloads.same_result(work)}.f64")
        except (RuntimeError, ValueError, KeyError, OSError) as fault:
            row["failed"] = str(fault)
    return row


def calibrate(options):
    """Measures the machine's peak and bandwidth."""
    out, _, _ = run_capped([options.build / "bench" / "model_bench", "--calibrate", "--threads", options.threads, "--json"], options.cap)
    return json.loads(out)


def disturbance(row, peak):
    """Disturbance of a measurement: CPUs used by other processes plus the relative loss of peak just after it."""
    return row["others"] + max(0, 1 - row["peak_flops_per_second"] / peak)


def undisturbed_turn(options, number, engine, work, peak):
    """Measures, and repeats at most twice while the disturbance exceeds MAX_DISTURBANCE. Returns the least disturbed row."""
    if workloads.is_start(work):
        run_measurement(options, number, engine, work)  # loads the files into the page cache
    best = None
    for _ in range(3):
        row = run_measurement(options, number, engine, work) | calibrate(options)
        if "failed" in row:
            return row
        peak = max(peak, row["peak_flops_per_second"])
        row["disturbance"] = disturbance(row, peak)
        if best is None or row["disturbance"] < best["disturbance"]:
            best = row
        if row["disturbance"] <= workloads.MAX_DISTURBANCE:
            break
    return best


def tune(options, work):
    """Tunes Cairn in mode normal until the budget is spent or nothing is left to measure."""
    _, model, task = workloads.WORKS[work]
    command = [options.build / "bench" / "model_bench", "--model", options.folder / "models" / model, *task, "--threads", options.threads,
               "--mode", "normal", "--budget", options.budget, "--db", file_of(options, "tuned.db"), "--iterations", 1, "--json", *tolerance(options)]
    out, _, _ = run_capped(command, options.budget + options.cap)
    return {"round": 0, "engine": "cairn-tuned", "work": work, "tune_seconds": json.loads(out)["compile_seconds"]}


def keep(options, work):
    """Runs a first start, which writes the compiled, packed model that later starts load."""
    begin = time.monotonic()
    run_capped(command_of(options, "cairn-kept", work, os.devnull)[0], options.cap)
    return {"round": 0, "engine": "cairn-kept", "work": work, "keep_seconds": time.monotonic() - begin}


def steps_of(options):
    """Steps in order: tuning and first starts (round 0), then rounds of all workloads and engines; the first engine rotates."""
    steps = []
    if "cairn-tuned" in options.engines:
        steps += [(0, "cairn-tuned", work) for work in options.works if not workloads.is_start(work)]
    if "cairn-kept" in options.engines:
        steps += [(0, "cairn-kept", work) for work in options.works if workloads.is_start(work)]
    for number in range(1, options.rounds + 1):
        for work in options.works:
            first = (number - 1) % len(options.engines)
            steps += [(number, engine, work) for engine in options.engines[first:] + options.engines[:first]
                      if workloads.is_done_by(engine, work) and engine in workloads.PRECISIONS[options.precision].engines]
    return steps


def told(row):
    if "failed" in row:
        return row["failed"]
    if "tune_seconds" in row:
        return f"tuned in {row['tune_seconds']:.1f} s"
    if "keep_seconds" in row:
        return f"kept after {row['keep_seconds']:.1f} s"
    time_of = (row["start_ns"] - row["interpreter_ns"]) if workloads.is_start(row["work"]) else min(row["iterations_ns"])
    text = f"{time_of / 1e6:9.2f} ms  error {row['error']:.1e}"
    text += f"  peak {row['peak_flops_per_second'] / 1e9:.0f} GFLOP/s, read {row['read_bytes_per_second'] / 1e9:.1f} GB/s"
    return text + ("  disturbed" if row["disturbance"] > workloads.MAX_DISTURBANCE else "")


def main():
    begin = time.monotonic()
    options = arguments()
    rows_file = file_of(options, "rows.jsonl")
    rows_file.parent.mkdir(parents=True, exist_ok=True)
    if not options.page:
        if not (options.build / "bench" / "model_bench").exists():
            raise SystemExit(f"{options.build}/bench/model_bench does not exist: build the preset release first")
        install(options.folder)
        prepare(options.folder, options.precision)
        if options.prepare:
            return 0
        if not options.resume:
            for file in (rows_file, *rows_file.parent.glob("tuned.db*")):
                file.unlink(missing_ok=True)
        rows = read_rows(rows_file)
        done = {(row["round"], row["engine"], row["work"]) for row in rows}
        left = [step for step in steps_of(options) if step not in done]
        peak = max((row.get("peak_flops_per_second", 0) for row in rows), default=0) or calibrate(options)["peak_flops_per_second"]
        for number, engine, work in left:
            if time.monotonic() - begin > options.seconds:
                print(f"{len(left)} measurements left: call it again with --resume", flush=True)
                return 3
            first = tune if engine == "cairn-tuned" else keep
            row = first(options, work) if number == 0 else undisturbed_turn(options, number, engine, work, peak)
            with open(rows_file, "a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            print(f"round {number}  {work:17} {engine:14} {told(row)}", flush=True)
            left = left[1:]
            peak = max(peak, row.get("peak_flops_per_second", 0))
    if not rows_file.exists():
        raise SystemExit(f"{rows_file} does not exist: nothing has been timed")
    print(report.write(read_rows(rows_file), ROOT, options))
    return 0


sys.exit(main())
