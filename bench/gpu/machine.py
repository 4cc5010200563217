"""Facts about the machine: its GPU, and where CUDA's libraries lie."""
import contextlib
import functools
import glob
import json
import os
import shutil
import sys

LIBRARIES = ("libnvrtc.so.13", "libcublasLt.so.13")


@functools.lru_cache
def library_folders():
    """Folders of CUDA's libraries: those of Python packages, which PyTorch uses, and of toolkits."""
    patterns = [os.path.join(base, "nvidia", "*", "lib") for base in sys.path if base]
    patterns += ["/usr/local/cuda*/lib64", "/usr/local/cuda*/lib"]
    folders = [folder for pattern in patterns for folder in sorted(glob.glob(pattern))]
    return [folder for folder in folders if any(os.path.exists(os.path.join(folder, name)) for name in LIBRARIES)]


def tool(name):
    """Path of a program of the toolkit, which may not be on the path."""
    return shutil.which(name) or shutil.which(name, path="/usr/local/cuda/bin") or name


def run_facts(run):
    """Emits the card, the driver, the commit of the programs and CUDA's libraries; all later results name the first two.
    False: there is no GPU."""
    query = ["nvidia-smi", "--query-gpu=name,driver_version,memory.total,clocks.max.sm", "--format=csv,noheader"]
    outcome = run.attempt("nvidia-smi", query, 20)
    fields = outcome.out.strip().split("\n")[0].split(", ")
    if not outcome.ok or len(fields) < 2:
        reason = outcome.detail() or "nvidia-smi names none"
        run.emit("facts", "card", "skipped", outcome.seconds, f"there is no GPU: {reason}")
        return False
    run.facts.update(card=fields[0], driver=fields[1])
    run.emit("facts", "card", "ok", outcome.seconds, outcome.out)
    found = {}
    with open(os.path.join(run.work, "commit"), encoding="utf-8") as file:
        found["commit"] = file.read()
    for name in LIBRARIES:
        paths = [os.path.join(folder, name) for folder in library_folders()]
        found[name] = next(filter(os.path.exists, paths), "as the loader finds it, if at all")
    with contextlib.suppress(OSError, StopIteration), open("/proc/cpuinfo", encoding="utf-8") as file:
        found["cpu"] = next(line.split(": ")[1].strip() for line in file if line.startswith("model name"))
    run.emit("facts", "commit and libraries", "ok", 0, json.dumps(found), cpus=os.cpu_count())
    return True
