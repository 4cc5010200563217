"""The pack: Cairn's programs and the libraries they need, in one compressed file."""
import contextlib
import io
import lzma
import os
import pathlib
import shutil
import subprocess
import tarfile
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "gpu_check"
PROGRAMS = ("tests/gpu/gpu_test", "bench/model_bench", "bin/cairn", "examples/gpt2", "examples/distilbert")
MAX_BYTES = 40_000_000


class Refused(Exception):
    """The command line, the pack or the folder of results cannot be used."""


def is_machine_code(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def libraries_of(program):
    """Paths of the shared libraries of a program, but for those of the C library, which must be the machine's own."""
    text = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    paths = [words[2] for words in map(str.split, text.splitlines()) if len(words) > 2 and words[1] == "=>"]
    own = ("libc.", "libm.", "libpthread.", "libdl.", "librt.", "ld-linux")
    return [path for path in paths if path.startswith("/") and not pathlib.Path(path).name.startswith(own)]


def commit():
    """The commit of the repository, with `-dirty` if files differ; `unknown` without git."""
    with contextlib.suppress(OSError, subprocess.CalledProcessError):
        command = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--match="]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    return "unknown"


def pack(build):
    """Packs the programs of a build folder, which is not needed afterwards. Returns the bytes of the pack."""
    for program in PROGRAMS:
        if not os.access(build / program, os.X_OK):
            raise Refused(f"{build / program} is not built")
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    path = FOLDER / "programs.tar.xz"
    with tempfile.TemporaryDirectory() as work:
        programs, libraries = pathlib.Path(work, "bin"), pathlib.Path(work, "lib")
        programs.mkdir()
        libraries.mkdir()
        for program in PROGRAMS:
            copy = shutil.copy(build / program, programs)
            if is_machine_code(copy):
                subprocess.run(["strip", copy], check=True)
                for library in libraries_of(copy):
                    shutil.copy(library, libraries)
        note = pathlib.Path(work, "commit")
        note.write_text(commit(), encoding="utf-8")
        # One stream with a large dictionary: the programs contain the same library.
        filters = [{"id": lzma.FILTER_X86}, {"id": lzma.FILTER_LZMA2, "preset": 1, "dict_size": 1 << 26}]
        with lzma.open(path, "wb", filters=filters) as stream, tarfile.open(fileobj=stream, mode="w") as tar:
            for each in (programs, libraries, note):
                tar.add(each, each.name)
    size = path.stat().st_size
    if size > MAX_BYTES:
        path.unlink()
        raise Refused(f"the pack has {size} bytes, more than {MAX_BYTES}")
    return size


def unpack(folder):
    """Unpacks the programs to folder/bin, their libraries to folder/lib, and folder/commit."""
    path = FOLDER / "programs.tar.xz"
    try:
        with lzma.open(path) as stream:
            whole = io.BytesIO(stream.read())  # to its checksum, which is behind the last file
        with tarfile.open(fileobj=whole, mode="r:") as tar:
            tar.extractall(folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    except (OSError, tarfile.TarError, lzma.LZMAError, EOFError) as fault:
        raise Refused(f"{path} cannot be read ({fault}): run 'scripts/gpu_check pack' where Cairn is built") from fault
