"""PyTorch's rows, each measured by a process of its own (bench/peers/torch_gpu.py), so that one that hangs costs only
its limit."""
import contextlib
import os
import select
import subprocess
import sys
import tempfile
import time

from gpu.pack import ROOT
from gpu.run import end
from gpu.timings import WORKS, json_of

PRECISIONS, MODES = ("f32", "tf32", "f16"), ("eager", "compiled", "captured")


def rows_of(model, is_full):
    """(work, precision, mode) of a model's rows: all, or those without a compiler, in f32 and f16."""
    modes, precisions = (MODES, PRECISIONS) if is_full else (("captured",), ("f32", "f16"))
    works = [work for work in WORKS if WORKS[work][0] == model]
    return [(work, precision, mode) for mode in modes for precision in precisions for work in works]


class TorchRow:
    """A process that prepares a row, and measures it whenever it is told to."""

    def __init__(self, run, work, precision, mode):
        self.run, self.work, self.precision, self.mode = run, work, precision, mode
        self.began, self.is_ready, self.fault, self.buffer = time.monotonic(), False, "", b""
        self.log = tempfile.TemporaryFile(dir=run.work)
        cache = os.path.join(run.work, "inductor", f"{work}-{precision}")
        environment = dict(os.environ, TORCHINDUCTOR_CACHE_DIR=cache, TORCHINDUCTOR_COMPILE_THREADS="1",
                           OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")
        command = [sys.executable, ROOT / "bench" / "peers" / "torch_gpu.py", work, precision, mode]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log,
                                        cwd=ROOT, env=environment, start_new_session=True)

    def answer(self, limit):
        """The next JSON object that it prints; None, with the reason in `fault`, if none comes within the limit."""
        until = time.monotonic() + limit
        while True:
            while b"\n" in self.buffer:
                line, self.buffer = self.buffer.split(b"\n", 1)
                row = json_of(line.decode(errors="replace"))
                if row is not None:
                    return row
            wait = until - time.monotonic()
            if wait < 0 or not select.select([self.process.stdout], [], [], wait)[0]:
                self.fault = f"it gave no answer within {limit:.1f} s"
                return None
            part = os.read(self.process.stdout.fileno(), 1 << 16)
            if not part:
                self.fault = f"it ended: {self.printed()[-600:]}"
                return None
            self.buffer += part

    def note_ready(self):
        """Reads what it has printed while it prepares."""
        row = self.answer(0.1)
        if row is None and self.fault.startswith("it gave"):
            self.fault = ""  # a part of a line
        elif row is not None:
            self.is_ready = bool(row.get("ready"))
            self.fault = "" if self.is_ready else str(row.get("fault", row))

    def measure(self, turn):
        if not self.is_ready:
            return
        began = time.monotonic()
        if not self.run.has_time():
            return self.emit("no time", 0, "", turn=turn)
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(b"measure\n")
            self.process.stdin.flush()
        row = self.answer(self.run.limit(20))
        seconds = time.monotonic() - began
        if row and "card_us" in row and "wall_us" in row:
            values = {key: row[key] for key in ("card_us", "wall_us", "error", "prepared_s", "torch") if key in row}
            return self.emit("ok", seconds, "", turn=turn, **values)
        self.emit("failed", seconds, self.fault or str(row), turn=turn)
        self.close()

    def emit(self, status, seconds, detail, **values):
        self.run.emit("torch", self.work, status, seconds, detail, engine="PyTorch", precision=self.precision,
                      mode=self.mode, **values)

    def printed(self):
        self.log.seek(0)
        return self.log.read(1 << 20).decode(errors="replace")

    def close(self):
        if self.log.closed:
            return
        self.is_ready = False
        end(self.process)
        self.run.log(f"torch {self.work} {self.precision} {self.mode}", self.printed())
        self.log.close()


class TorchRows:
    """Rows that are prepared together, also while other programs run, and measured one after another."""

    def __init__(self, run, rows):
        self.run, self.waiting, self.rows, self.began = run, list(rows), [], time.monotonic()
        run.meanwhile = self.attend
        self.attend()

    def pending(self):
        return [row for row in self.rows if not row.is_ready and not row.fault]

    def attend(self, wait=0.0):
        """Notes which rows are ready, and starts further ones as long as there are CPUs to prepare them."""
        pending = self.pending()
        readable = select.select([row.process.stdout for row in pending], [], [], wait)[0] if pending else []
        for row in pending:
            if row.process.stdout in readable:
                row.note_ready()
        while self.waiting and len(self.pending()) < max(2, (os.cpu_count() or 4) - 2):
            self.rows.append(TorchRow(self.run, *self.waiting.pop(0)))

    def prepare(self, limit):
        """Returns when all rows are ready, or at the limit, which counts from the first start. Rows that are not ready
        are ended then, so that the GPU is quiet."""
        until = self.began + limit * self.run.scale
        self.attend()
        while self.pending() and time.monotonic() < until and self.run.has_time():
            self.attend(max(0.0, min(1.0, until - time.monotonic())))
        self.run.meanwhile = lambda: None
        for row in self.rows:
            if not row.is_ready:
                row.emit("failed", time.monotonic() - row.began, row.fault or "it was not prepared in time")
                row.close()
        for work, precision, mode in self.waiting:
            self.run.emit("torch", work, "no time", 0, "", engine="PyTorch", precision=precision, mode=mode)
        self.waiting = []

    def measure(self, work, turn):
        for row in self.rows:
            if row.work == work:
                row.measure(turn)

    def close(self):
        for row in self.rows:
            row.close()
