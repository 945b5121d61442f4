"""Measures NumPy, and PyTorch and JAX where they are installed, on the cases of a file of results.

    restride bench --suite dl --json dl.json
    python3 bench/python_peers.py dl.json            adds them to the file and prints the table
    python3 bench/python_peers.py dl.json --seconds 0.2 --filter attn

Same method: one thread, shuffled rounds, the least of many by the thread's processor clock where the
wall clock agrees, results checked before. The candidates of a case run against memcpy (memset where
the problem mostly writes) in this process, and their share of the ceiling follows from the one that
`restride bench` found between the two. Arrays too small for that are held against the seconds in the file.
Problems that compute are read from their text, see python_arithmetic. Other
threads, and problems with padding, tiles or packed elements, are left out.
"""

import argparse
import ctypes
import importlib
import itertools
import math
import os
import random
import re
import sys
import time

for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")

import numpy as np  # noqa: E402: threads are chosen before

import python_arithmetic  # noqa: E402
import results  # noqa: E402

SHORTEST_ROUND = 50e-6
FEWEST_ROUNDS = 3
CHUNK_ELEMENTS = 1 << 20
SMALL_BYTES = 1 << 18  # below it a foreign call costs more than the copy
TYPES = {1: np.uint8, 2: np.uint16, 4: np.float32, 8: np.float64, 16: np.complex128}


class Loops:
    """A problem as plain loops over two buffers, and views of both that NumPy can copy."""

    def __init__(self, loops):
        self.dtype = np.dtype(TYPES[loops["element_bytes"]])
        self.extents = [d[0] for d in loops["dimensions"]]
        self.source_strides = [d[1] for d in loops["dimensions"]]
        self.target_strides = [d[2] for d in loops["dimensions"]]
        self.source = aligned(loops["source_bytes"])
        self.target = aligned(loops["target_bytes"])
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


def aligned(size):
    buffer = np.zeros(size + 63, np.uint8)
    return buffer[-buffer.ctypes.data % 64:][:size]


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
    """A jitted transpose; it allocates its result. Only permutations of dense arrays."""
    jax = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)
    by_source = sorted(range(len(loops.extents)), key=lambda k: -loops.source_strides[k])
    extents = [loops.extents[k] for k in by_source]
    dense = np.zeros(0, loops.dtype).itemsize
    for k in reversed(by_source):
        if loops.source_strides[k] != dense:
            return None
        dense *= loops.extents[k]
    if dense != loops.source.size or dense != loops.target.size:
        return None
    order = [by_source.index(k) for k in range(len(loops.extents))]
    array = jax.device_put(loops.source.view(loops.dtype).reshape(extents))
    transpose = jax.jit(lambda x: jax.numpy.transpose(x, order))

    def run():
        return transpose(array).block_until_ready()
    return run


PEERS = {"NumPy": ("numpy", numpy_peer), "PyTorch": ("torch", torch_peer), "JAX": ("jax", jax_peer)}


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
    """Seconds a call of each, all samples sorted."""
    repetitions = []
    for call in calls:
        count, seconds = 1, time_calls(call, 1)
        while seconds * count < SHORTEST_ROUND:
            count *= 2
            seconds = time_calls(call, count)
        repetitions.append(count)
    samples = [[] for _ in calls]
    stop = time.perf_counter() + budget
    order = list(range(len(calls)))
    while len(samples[0]) < FEWEST_ROUNDS or (time.perf_counter() < stop and len(samples[0]) < 1000):
        random.shuffle(order)
        for i in order:
            samples[i].append(time_calls(calls[i], repetitions[i]))
    return [sorted(s) for s in samples]


def checked(name, loops, expected):
    """The peer's call, or its result where it is not to be timed."""
    make = python_arithmetic.PEERS[name] if isinstance(loops, python_arithmetic.Arithmetic) else PEERS[name][1]
    result = {"name": name, "role": "peer"}
    start = time.perf_counter()
    try:
        run = make(loops)
    except Exception as error:  # noqa: BLE001: whatever a peer raises is its reason
        run, result["reason"] = None, f"{type(error).__name__}: {error}"
    if run is None:
        return None, {**result, "status": "not applicable", "reason": result.get("reason", "lacks it")}
    loops.target[:] = 0xCC
    found = np.asarray(run())
    seconds = time.perf_counter() - start
    if not loops.agrees(found, expected):
        return None, {**result, "status": "wrong", "reason": "other bytes than index arithmetic gives"}
    return run, {**result, "status": "timed", "prepare_seconds": seconds}


def measure(case, names, budget):
    """The candidates to add to a case."""
    try:
        loops = Loops(case["loops"]) if case["loops"] else python_arithmetic.Arithmetic(case, aligned)
    except ValueError as reason:
        return [{"name": n, "role": "peer", "status": "not applicable", "reason": str(reason)} for n in names]
    expected = loops.expected()
    checks = [checked(name, loops, expected) for name in names]
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


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", help="a file that `restride bench --json` wrote; it is changed")
    parser.add_argument("--seconds", type=float, default=1.0, help="for the contest of one case")
    parser.add_argument("--filter", default="", help="only cases whose name matches")
    return parser.parse_args()


def main():
    options = arguments()
    file = results.load(options.results)
    if file["settings"]["threads"] != 1:
        sys.exit("only results of one thread can be added to")
    versions = {}
    for name, (module, _) in PEERS.items():
        try:
            versions[name] = importlib.import_module(module).__version__
        except ImportError:
            print(f"{name} is not installed", file=sys.stderr)
    for _, case in results.cases(file):
        measurable = any(c["role"] == "reference" for c in case["candidates"])
        if not measurable or not re.search(options.filter, case["name"]):
            continue
        if sys.stderr.isatty():
            print(f"\r\x1b[K{case['name']}", end="", file=sys.stderr, flush=True)
        case["candidates"] = [c for c in case["candidates"] if c["name"] not in versions]
        case["candidates"] += measure(case, list(versions), options.seconds)
    file["settings"]["peers"].update(versions)
    results.save(file, options.results)
    for suite in file["suites"]:
        results.print_table(suite)


if __name__ == "__main__":
    main()
