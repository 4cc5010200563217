"""One run of gpu_check: its clock, the programs that it starts within limits, and its results."""
import contextlib
import datetime
import json
import math
import os
import signal
import subprocess
import tempfile
import time

from gpu.pack import ROOT, Refused


class Outcome:
    """How a program ended, and what it printed. `status`: ok, failed, timeout, absent (it could not be started), or no
    time (it was not started)."""

    def __init__(self, status, seconds, out="", err="", reason=""):
        self.status, self.seconds, self.out, self.err, self.reason = status, seconds, out, err, reason

    @property
    def ok(self):
        return self.status == "ok"

    def detail(self):
        """Why it failed and the end of what it printed, errors if there are any."""
        printed = (self.err if self.err.strip() else self.out).strip()[-1200:]
        return f"{self.reason}: {printed}" if self.reason and printed else self.reason or printed


def finite(value):
    """The value without numbers that JSON does not have."""
    if isinstance(value, dict):
        return {key: finite(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(each) for each in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def end(process):
    """Ends a process and all that it has started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


class Run:
    """`seconds`: after which nothing runs any more; `scale`: by which limits are multiplied; `work`: a temporary
    folder; `facts`: what each result names."""

    def __init__(self, folder, seconds, scale, work, facts):
        self.began, self.seconds, self.scale, self.work = time.monotonic(), seconds, scale, work
        self.facts, self.rows, self.folder = facts, [], folder.resolve()
        self.meanwhile = lambda: None  # called while a program runs
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self.files = {name: open(folder / name, "w", encoding="utf-8")
                          for name in ("results.jsonl", "log.txt", "table.txt")}
        except OSError as fault:
            raise Refused(f"the results cannot be written: {fault}") from fault

    def limit(self, seconds):
        """The limit of a stage: its own, in proportion to that of the run, and not beyond the end of the run."""
        return min(seconds * self.scale, self.seconds - (time.monotonic() - self.began))

    def has_time(self):
        return self.limit(1) >= self.scale

    def emit(self, stage, name, status, seconds=0.0, detail="", **values):
        """Writes a result, at once."""
        date = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
        row = {"stage": stage, "name": name, "status": status, "seconds": round(seconds, 2), **values, **self.facts,
               "date": date, "detail": detail.strip()[-1500:]}
        self.rows.append(row)
        line = json.dumps(finite(row))
        print(line, file=self.files["results.jsonl"], flush=True)
        print(line, flush=True)

    def attempt(self, name, command, limit, environment=None):
        """Runs a program within a limit."""
        if not self.has_time():
            return Outcome("no time", 0)
        limit, began = self.limit(limit), time.monotonic()
        with tempfile.TemporaryFile(dir=self.work) as out, tempfile.TemporaryFile(dir=self.work) as err:
            try:
                process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=out,
                                           stderr=err, cwd=ROOT, env=environment, start_new_session=True)
            except OSError as fault:
                return Outcome("absent", 0, reason=str(fault))
            try:
                code = self.wait(process, limit)
            finally:
                end(process)
            status, reason = ("ok", "") if code == 0 else ("failed", f"exit code {code}")
            if code is None:
                status, reason = "timeout", f"ended after {limit:.1f} s"
            elif code < 0:
                reason = f"ended by signal {-code}"
            texts = []
            for file in (out, err):
                file.seek(0)
                texts.append(file.read(1 << 26).decode(errors="replace"))
        self.log(name, *texts)
        return Outcome(status, time.monotonic() - began, *texts, reason)

    def wait(self, process, limit):
        """The exit code of a process; None if it runs on at the limit. Calls `meanwhile` now and then."""
        until = time.monotonic() + limit
        while process.poll() is None and time.monotonic() < until:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(min(0.2, max(0, until - time.monotonic())))
            self.meanwhile()
        return process.poll()

    def log(self, name, *texts):
        print(f"==== {name}", *(text[-200_000:] for text in texts), sep="\n", file=self.files["log.txt"], flush=True)
