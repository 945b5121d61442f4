"""Measures NumPy, and PyTorch and JAX where they are installed, on the cases of a file of results.

    restride bench --suite dl --json dl.json
    python3 bench/python_peers.py dl.json            adds them to the file and prints the table
    python3 bench/python_peers.py dl.json --seconds 0.2 --filter attn --peer mine.py

Same method: one thread, the same kind of pages, shuffled rounds, the least of many by the thread's
processor clock where the wall clock agrees, results checked before. The candidates of a case run
against memcpy (memset where the problem mostly writes) in this process, and their share of the ceiling
follows from the one that `restride bench` found between the two. Arrays too small for that are held
against the seconds in the file. Problems that compute are read from their text, see python_arithmetic.
Other threads, and problems with padding, tiles or packed elements, are left out.
JAX cannot write into an array that is there: its result lies in memory that it had before.

Cases that have the peers already are left alone, so that a run that was cut off goes on where it was.
A peer of yours is a file with `name`, `version` and `prepare(loops)`: see the peers below.
"""

import argparse
import contextlib
import ctypes
import importlib
import importlib.util
import itertools
import math
import mmap
import os
import pathlib
import random
import re
import sys
import time

for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
os.environ["NUMPY_MADVISE_HUGEPAGE"] = "0"  # the file says which pages there are

import numpy as np  # noqa: E402: threads are chosen before

import python_arithmetic  # noqa: E402
import results  # noqa: E402

SHORTEST_ROUND = 50e-6
FEWEST_ROUNDS = 3
CHUNK_ELEMENTS = 1 << 20
HUGE_PAGE_BYTES = 1 << 21
SAVE_SECONDS = 10
SMALL_BYTES = 1 << 18  # below it a foreign call costs more than the copy
TYPES = {1: np.uint8, 2: np.uint16, 4: np.float32, 8: np.float64, 16: np.complex128}


class Loops:
    """A problem as plain loops over two buffers, and views of both that NumPy can copy."""

    def __init__(self, loops, pages):
        self.dtype = np.dtype(TYPES[loops["element_bytes"]])
        self.extents = [d[0] for d in loops["dimensions"]]
        self.source_strides = [d[1] for d in loops["dimensions"]]
        self.target_strides = [d[2] for d in loops["dimensions"]]
        self.source = memory(loops["source_bytes"], pages)
        self.target = memory(loops["target_bytes"], pages)
        words = np.random.default_rng(42).integers(0, 256, loops["source_bytes"], np.uint8)
        words[1::2] &= 0xBF  # finite numbers in every float type
        self.source[:] = words

    def agrees(self, found, expected):
        return np.ascontiguousarray(found).tobytes() == expected.tobytes()

    def view(self, buffer, strides):
        return np.ndarray(self.extents, self.dtype, buffer, strides=strides)

    def expected(self):
        """By index arithmetic alone: offsets of both sides, added up one dimension after the other."""
        width = self.dtype.itemsize
        expected = np.full(self.target.size // width * width, 0xCC, np.uint8).view(f"V{width}")
        source = self.source.view(f"V{width}")
        outer = (self.extents or [1])[0]
        chunk = max(1, CHUNK_ELEMENTS * outer // max(1, math.prod(self.extents)))
        for begin in range(0, outer, chunk):
            at, to = np.zeros(1, np.int64), np.zeros(1, np.int64)
            for k, extent in enumerate(self.extents):
                steps = np.arange(begin, min(begin + chunk, outer)) if k == 0 else np.arange(extent)
                at = (at[:, None] + steps * (self.source_strides[k] // width)).ravel()
                to = (to[:, None] + steps * (self.target_strides[k] // width)).ravel()
            expected[to] = source[at]
        return expected.view(np.uint8)


def memory(size, pages):
    """Zeroed bytes on pages as `restride bench --pages` asks for them."""
    block = mmap.mmap(-1, size + HUGE_PAGE_BYTES, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    advice = {"4k": mmap.MADV_NOHUGEPAGE, "2m": mmap.MADV_HUGEPAGE}.get(pages)
    if advice is not None:
        block.madvise(advice)
    buffer = np.frombuffer(block, np.uint8)
    return buffer[-buffer.ctypes.data % HUGE_PAGE_BYTES:][:size]


def keep_freed_memory():
    """Makes malloc reuse what was freed: else each result of JAX would lie on new pages, and their first touch would
    be most of its time."""
    trim_threshold, most_mappings = -1, -4
    libc = ctypes.CDLL(None)
    libc.mallopt(trim_threshold, 2**31 - 1)
    libc.mallopt(most_mappings, 0)


@contextlib.contextmanager
def quiet():
    """Nothing on stderr: Debian's PyTorch warns at length of a newer NumPy, whose arrays it is never given."""
    sys.stderr.flush()
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


# A peer makes a function that runs the loops once and returns the bytes of the result, or says None.

def numpy_peer(loops):
    source, target = loops.view(loops.source, loops.source_strides), loops.view(loops.target, loops.target_strides)

    def run():
        np.copyto(target, source)
        return loops.target
    return run


def torch_peer(loops):
    torch = importlib.import_module("torch")
    torch.set_num_threads(1)
    types = {1: torch.uint8, 2: torch.int16, 4: torch.float32, 8: torch.float64, 16: torch.complex128}
    width = loops.dtype.itemsize

    def tensor(buffer, strides):
        flat = torch.frombuffer(memoryview(buffer), dtype=types[width])
        return flat.as_strided(loops.extents, [s // width for s in strides])

    source, target = tensor(loops.source, loops.source_strides), tensor(loops.target, loops.target_strides)

    def run():
        target.copy_(source)
        return loops.target
    return run


def jax_peer(loops):
    """A jitted transpose and broadcast of dense arrays; it allocates its result."""
    jax = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)
    read = [k for k, stride in enumerate(loops.source_strides) if stride]
    by_source = sorted(read, key=lambda k: -loops.source_strides[k])
    everything = range(len(loops.extents))
    if not (is_dense(loops, by_source, loops.source_strides, loops.source.size) and
            is_dense(loops, everything, loops.target_strides, loops.target.size)):
        return None
    array = jax.device_put(loops.source.view(loops.dtype).reshape([loops.extents[k] for k in by_source]))
    order = [by_source.index(k) for k in read]
    move = jax.jit(lambda x: jax.lax.broadcast_in_dim(jax.lax.transpose(x, order), loops.extents, read))

    def run():
        return move(array).block_until_ready()
    return run


def is_dense(loops, dimensions, strides, size):
    expected = loops.dtype.itemsize
    for k in reversed(dimensions):
        if strides[k] != expected:
            return False
        expected *= loops.extents[k]
    return expected == size


PEERS = {"NumPy": ("numpy", numpy_peer), "PyTorch": ("torch", torch_peer), "JAX": ("jax", jax_peer)}


def find_peers(files):
    """({name: function}, {name: version}) of the libraries that are installed, and of the files."""
    peers, versions = {}, {}
    for name, (module, prepare) in PEERS.items():
        try:
            with quiet():
                versions[name] = importlib.import_module(module).__version__
                peers[name] = prepare
        except ImportError:
            print(f"{name} is not installed", file=sys.stderr)
    for file in files:
        path = pathlib.Path(file)
        specification = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(module)
        peers[module.name], versions[module.name] = module.prepare, module.version
    return peers, versions


def library_call(case, loops, factor):
    """What `restride bench` calls memcpy or memset for this case, on the same amounts. `factor` 0: on none, which
    costs what the call from here costs."""
    libc = ctypes.CDLL(None)
    name = next(c["name"] for c in case["candidates"] if c["role"] == "reference")
    source, target = loops.source.ctypes.data, loops.target.ctypes.data
    copied = 0 if name == "memset" else min(case["read_bytes"], case["written_bytes"])
    filled = case["written_bytes"] - copied
    if case["read_bytes"] > case["written_bytes"]:
        copied, filled = (case["read_bytes"] + case["written_bytes"]) // 2, 0
    copy = (ctypes.c_void_p(target), ctypes.c_void_p(source), ctypes.c_size_t(copied * factor))
    fill = (ctypes.c_void_p(target + copied), 0x5A, ctypes.c_size_t(filled * factor))

    def run():
        if copied:
            libc.memcpy(*copy)
        if filled:
            libc.memset(*fill)
    return run


def time_calls(call, repetitions):
    wall, processor = time.perf_counter(), time.thread_time()
    for _ in itertools.repeat(None, repetitions):
        call()
    processor, wall = time.thread_time() - processor, time.perf_counter() - wall
    agrees = abs(processor - wall) <= 0.05 * wall
    return (processor if agrees else wall) / repetitions


def contest(calls, budget):
    """Seconds a call of each, all samples sorted. One call is enough of those that take all the budget."""
    repetitions, samples = [], []
    for call in calls:
        count, seconds = 1, time_calls(call, 1)
        samples.append([seconds] if seconds > budget else [])
        while seconds * count < SHORTEST_ROUND:
            count *= 2
            seconds = time_calls(call, count)
        repetitions.append(count)
    order = [i for i, found in enumerate(samples) if not found]
    stop = time.perf_counter() + budget
    rounds = 0
    while order and (rounds < FEWEST_ROUNDS or (time.perf_counter() < stop and rounds < 1000)):
        random.shuffle(order)
        for i in order:
            samples[i].append(time_calls(calls[i], repetitions[i]))
        rounds += 1
    return [sorted(s) for s in samples]


def checked(name, prepare, loops, expected):
    """The peer's call, or its result where it is not to be timed."""
    result = {"name": name, "role": "peer"}
    start = time.perf_counter()
    try:
        with quiet():
            run = prepare(loops)
            loops.target[:] = 0xCC
            found = np.asarray(run()) if run else None
    except Exception as error:  # noqa: BLE001: whatever a peer raises is its reason
        return None, {**result, "status": "not applicable", "reason": f"{type(error).__name__}: {error}"}
    if run is None:
        return None, {**result, "status": "not applicable", "reason": "lacks it"}
    seconds = time.perf_counter() - start
    if not loops.agrees(found, expected):
        return None, {**result, "status": "wrong", "reason": "other bytes than index arithmetic gives"}
    return run, {**result, "status": "timed", "prepare_seconds": seconds}


def prepared(case, pages):
    """The case as plain loops, or as what it computes. ValueError: it is neither."""
    if case["loops"]:
        return Loops(case["loops"], pages)
    return python_arithmetic.Arithmetic(case, lambda size: memory(size, pages))


def measure(case, peers, settings, budget):
    """The candidates to add to a case."""
    try:
        loops = prepared(case, settings["pages"])
    except ValueError as reason:
        return [{"name": n, "role": "peer", "status": "not applicable", "reason": str(reason)} for n in peers]
    if isinstance(loops, python_arithmetic.Arithmetic):
        peers = {name: python_arithmetic.PEERS.get(name, lambda _: None) for name in peers}
    expected = loops.expected()
    checks = [checked(name, prepare, loops, expected) for name, prepare in peers.items()]
    running = [(run, result) for run, result in checks if run]
    library = next(c for c in case["candidates"] if c["role"] == "reference")
    calls = [library_call(case, loops, 1), library_call(case, loops, 0)] + [run for run, _ in running]
    samples = contest(calls, budget)
    small = case["read_bytes"] + case["written_bytes"] < SMALL_BYTES
    library_seconds = library["seconds"] if small else samples[0][0] - samples[1][0]
    for (_, result), times in zip(running, samples[2:]):
        of_library = library_seconds / times[0]
        result.update(seconds=times[0], median_seconds=times[len(times) // 2], rounds=len(times),
                      share_of_library=of_library, share_of_ceiling=of_library * library["share_of_ceiling"])
    return [result for _, result in checks]


def wanted_cases(file, names, pattern):
    """Those that can be measured and have not been."""
    for _, case in results.cases(file):
        measurable = any(c["role"] == "reference" for c in case["candidates"])
        complete = set(names) <= {c["name"] for c in case["candidates"]}
        if measurable and not complete and re.search(pattern, case["name"]):
            yield case


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", help="a file that `restride bench --json` wrote; it is changed")
    parser.add_argument("--seconds", type=float, default=1.0, help="for the contest of one case")
    parser.add_argument("--filter", default="", help="only cases whose name matches")
    parser.add_argument("--peer", action="append", default=[], help="one more peer, a file of Python")
    return parser.parse_args()


def main():
    options = arguments()
    file = results.load(options.results)
    if file["settings"]["threads"] != 1:
        sys.exit("only results of one thread can be added to")
    keep_freed_memory()
    peers, versions = find_peers(options.peer)
    file["settings"]["peers"].update(versions)
    saved = time.monotonic()
    for case in wanted_cases(file, versions, options.filter):
        if sys.stderr.isatty():
            print(f"\r\x1b[K{case['name']}", end="", file=sys.stderr, flush=True)
        case["candidates"] = [c for c in case["candidates"] if c["name"] not in versions]
        case["candidates"] += measure(case, peers, file["settings"], options.seconds)
        if time.monotonic() - saved > SAVE_SECONDS:
            results.save(file, options.results)
            saved = time.monotonic()
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr)
    results.save(file, options.results)
    for suite in file["suites"]:
        results.print_table(suite)


if __name__ == "__main__":
    main()
