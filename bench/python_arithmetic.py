"""Problems that compute, for python_peers: read from their text, checked with NumPy, and done by each
library in its best way: operands and result are views of the buffers as their layouts say, and the
library broadcasts, converts and stores in as few passes as it can. Plain layouts only: no tiles, no
padding, no packed elements, no strides.
"""

import importlib
import math
import re

import numpy as np

TYPES = {"pred": "bool", "s8": "int8", "s16": "int16", "s32": "int32", "s64": "int64", "u8": "uint8", "u16": "uint16",
         "u32": "uint32", "f16": "float16", "f32": "float32", "f64": "float64", "c64": "complex64",
         "c128": "complex128"}
UFUNCS = {"add": "add", "subtract": "subtract", "multiply": "multiply", "divide": "divide", "maximum": "maximum",
          "minimum": "minimum", "equal": "equal", "not_equal": "not_equal", "less": "less", "less_equal": "less_equal",
          "greater": "greater", "greater_equal": "greater_equal"}
TORCH_NAMES = {"equal": "eq", "not_equal": "ne", "less": "lt", "less_equal": "le", "greater": "gt",
               "greater_equal": "ge"}

SHAPE = r"(?P<type>\w+)\[(?P<sizes>[\d,]*)\](?:\{(?P<order>[\d,]*)\})?(?: dims=\{(?P<dims>[\d,]*)\})?"
PROBLEM = re.compile(rf"(?P<name>\w+)\((?P<operands>.*)\) -> (?P<target>\S+)(?P<affine>.*)")
PAGE_BYTES = 4096  # between the sources, as in `restride bench`


def numbers(text, kind=int):
    return [kind(word) for word in text.split(",")] if text else []


class Operand:
    """A shape, and which dimension of the target each of its dimensions is."""

    def __init__(self, match):
        self.type = match["type"]
        self.sizes = numbers(match["sizes"])
        rank = len(self.sizes)
        self.minor_to_major = list(reversed(range(rank))) if match["order"] is None else numbers(match["order"])
        self.dims = None if match["dims"] is None else numbers(match["dims"])
        self.width = 2 if self.type == "bf16" else np.dtype(TYPES[self.type]).itemsize
        self.bytes = math.prod(self.sizes) * self.width
        self.strides, stride = [0] * rank, 1  # in elements
        for dimension in self.minor_to_major:
            self.strides[dimension] = stride
            stride *= self.sizes[dimension]

    def within(self, rank):
        """Sizes and strides among the dimensions of the target; what the operand lacks has size 1."""
        dims = self.dims if self.dims is not None else range(len(self.sizes))
        sizes, strides = [1] * rank, [0] * rank
        for k, dimension in enumerate(dims):
            sizes[dimension], strides[dimension] = self.sizes[k], self.strides[k]
        return sizes, strides


class Arithmetic:
    """A problem with its buffers. `memory(bytes)` gives a buffer."""

    def __init__(self, case, memory):
        problem = PROBLEM.fullmatch(case["problem"])
        operands = problem and list(re.finditer(SHAPE, problem["operands"]))
        target = problem and re.fullmatch(SHAPE, problem["target"])
        if not operands or not target or re.search(r"[:]|strides", case["problem"]):
            raise ValueError("no plain layouts")
        self.operation = problem["name"]
        if self.operation != "convert" and self.operation not in UFUNCS:
            raise ValueError(f"{self.operation} is not compared")
        self.operands, self.result = [Operand(m) for m in operands], Operand(target)
        self.affine = {name: numbers(found, float) for name, found in
                       re.findall(r"(scale|zero_point|bias)=\{([^}]*)\}", problem["affine"])}
        found = re.search(r"dim=(\d+)", problem["affine"])
        self.dimension = int(found[1]) if found else 0
        self.begins, end = [], 0
        for operand in self.operands:
            self.begins.append(end)
            end += -(-operand.bytes // PAGE_BYTES) * PAGE_BYTES
        copied = (case["read_bytes"] + case["written_bytes"]) // 2  # what memcpy is given to copy
        self.source, self.target = memory(max(end, copied)), memory(max(self.result.bytes, copied))
        words = np.random.default_rng(42).integers(0, 256, self.source.size, np.uint8)
        words[1::2] = words[1::2] & 0xBF | 0x20  # finite numbers in every float type, none that XLA flushes to 0
        self.source[:] = words

    def bytes_of(self, k):
        """The buffer of operand k, of the target for None."""
        if k is None:
            return self.target[:self.result.bytes]
        return self.source[self.begins[k]:][:self.operands[k].bytes]

    def places(self, k):
        """(sizes, strides in elements) of an operand among the dimensions of the target."""
        return (self.result if k is None else self.operands[k]).within(len(self.result.sizes))

    def view(self, k, dtype):
        sizes, strides = self.places(k)
        return np.ndarray(sizes, dtype, self.bytes_of(k), strides=[s * np.dtype(dtype).itemsize for s in strides])

    def factor(self, name, dtype):
        """Numbers of the affine step, in the shape that broadcasts along their dimension; None without."""
        if name not in self.affine:
            return None
        values = np.array(self.affine[name], dtype)
        shape = [1] * len(self.result.sizes)
        if values.size > 1:
            shape[self.dimension] = values.size
        return values.reshape(shape)

    def quantizes(self):
        return bool(self.affine) and self.result.type[0] in "su"

    def limits(self):
        limits = np.iinfo(TYPES[self.result.type])
        return int(limits.min), int(limits.max)

    def widened(self, k):
        """Operand k as NumPy can compute with it: bf16 as f32."""
        operand = self.operands[k]
        if operand.type != "bf16":
            return self.view(k, TYPES[operand.type])
        return (self.view(k, np.uint16).astype(np.uint32) << 16).view(np.float32)

    def expected(self):
        """The bytes of the target, one step of the definition after the other."""
        values = [self.widened(k) for k in range(len(self.operands))]
        if self.operation != "convert":
            result = getattr(np, UFUNCS[self.operation])(*values)
        elif not self.affine:
            result = values[0]
        else:
            result = self.expected_affine(values[0])
        kept = self.target.copy()
        self.store(result)
        found = self.bytes_of(None).copy()
        self.target[:] = kept
        return found

    def expected_affine(self, x):
        real = np.float64 if "f64" in (self.operands[0].type, self.result.type) else np.float32
        scale, zero, bias = (self.factor(name, real) for name in ("scale", "zero_point", "bias"))
        x = x.astype(real)
        if self.quantizes():
            x = np.rint(x / scale)
            return np.clip(x if zero is None else x + zero, *self.limits())
        x = (x if zero is None else x - zero) * scale
        return x if bias is None else x + bias

    def store(self, values):
        if self.result.type != "bf16":
            np.copyto(self.view(None, TYPES[self.result.type]), values, casting="unsafe")
            return
        bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
        bits = bits + (0x7FFF + (bits >> 16 & 1))  # to nearest even; the numbers are finite
        np.copyto(self.view(None, np.uint16), (bits >> 16).astype(np.uint16))

    def agrees(self, found, expected):
        """Bytes, but for a library that fuses the product and the sum of an affine step."""
        found = np.ascontiguousarray(found).reshape(-1).view(np.uint8)[:expected.size]
        if np.array_equal(found, expected):
            return True
        if not self.affine or found.size != expected.size:
            return False
        dtype = TYPES[self.result.type]
        found, expected = found.view(dtype).astype(np.float64), expected.view(dtype).astype(np.float64)
        return np.allclose(found, expected, rtol=1e-5, atol=1 if self.quantizes() else 1e-6)


# As in python_peers: a peer makes a function that runs the problem once and returns the bytes of the result.

def numpy_peer(problem):
    if "bf16" in (problem.operands[0].type, problem.result.type):
        return None
    sources = [problem.view(k, TYPES[o.type]) for k, o in enumerate(problem.operands)]
    target = problem.view(None, TYPES[problem.result.type])
    scale, zero, bias = (problem.factor(name, np.float32) for name in ("scale", "zero_point", "bias"))
    wide = np.empty_like(target, np.float32) if problem.quantizes() else None

    def convert():
        np.copyto(target, sources[0], casting="unsafe")

    def compute():
        getattr(np, UFUNCS[problem.operation])(*sources, out=target)

    def quantize():
        np.divide(sources[0], scale, out=wide)
        np.rint(wide, out=wide)
        if zero is not None:
            np.add(wide, zero, out=wide)
        np.clip(wide, *problem.limits(), out=wide)
        np.copyto(target, wide, casting="unsafe")

    def normalize():
        source = sources[0]
        if zero is not None:
            source = np.subtract(source, zero, out=target)
        np.multiply(source, scale, out=target, casting="unsafe")
        if bias is not None:
            np.add(target, bias, out=target)

    step = pick(problem, convert, compute, quantize, normalize)

    def run():
        step()
        return problem.bytes_of(None)
    return run


def pick(problem, convert, compute, quantize, normalize):
    if problem.operation != "convert":
        return compute
    if not problem.affine:
        return convert
    return quantize if problem.quantizes() else normalize


def torch_peer(problem):
    torch = importlib.import_module("torch")
    torch.set_num_threads(1)

    def tensor(k, operand):
        dtype = torch.bfloat16 if operand.type == "bf16" else getattr(torch, TYPES[operand.type])
        flat = torch.frombuffer(memoryview(problem.bytes_of(k)), dtype=dtype)
        return flat.as_strided(*problem.places(k))

    def factor(name):
        values = problem.factor(name, np.float32)
        return None if values is None else torch.tensor(values.tolist(), dtype=torch.float32)

    sources, target = [tensor(k, o) for k, o in enumerate(problem.operands)], tensor(None, problem.result)
    scale, zero, bias = factor("scale"), factor("zero_point"), factor("bias")
    wide = torch.empty_like(target, dtype=torch.float32) if problem.quantizes() else None
    name = UFUNCS.get(problem.operation)
    function = getattr(torch, TORCH_NAMES.get(name, name)) if name else None

    def convert():
        target.copy_(sources[0])

    def compute():
        function(*sources, out=target)

    def quantize():
        torch.div(sources[0], scale, out=wide)
        wide.round_()
        if zero is not None:
            wide.add_(zero)
        target.copy_(wide.clamp_(*problem.limits()))

    def normalize():
        source = sources[0] if zero is None else torch.sub(sources[0], zero, out=target)
        torch.mul(source, scale, out=target)
        if bias is not None:
            target.add_(bias)

    step = pick(problem, convert, compute, quantize, normalize)

    def run():
        step()
        return problem.bytes_of(None)
    return run


def jax_peer(problem):
    """One jitted function from arrays as they lie to the result as it lies; it allocates its result."""
    jax = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)
    jnp = jax.numpy
    rank = len(problem.result.sizes)
    types = {"bf16": jnp.bfloat16, **TYPES}

    def array(k, operand):
        lying = [operand.sizes[d] for d in reversed(operand.minor_to_major)]
        raw = problem.bytes_of(k)
        return jax.device_put(raw.view(jnp.dtype(types[operand.type])).reshape(lying))

    def logical(operand, x):
        """With a dimension for each of the target's, as the operand broadcasts."""
        major_to_minor = list(reversed(operand.minor_to_major))
        x = x.transpose([major_to_minor.index(d) for d in range(len(operand.sizes))])
        dims = operand.dims if operand.dims is not None else list(range(len(operand.sizes)))
        x = x.transpose(sorted(range(len(dims)), key=lambda k: dims[k]))
        return jnp.expand_dims(x, [d for d in range(rank) if d not in dims])

    def compute(*arrays):
        values = [logical(o, x) for o, x in zip(problem.operands, arrays)]
        if problem.operation != "convert":
            result = getattr(jnp, UFUNCS[problem.operation])(*values)
        elif not problem.affine:
            result = values[0].astype(types[problem.result.type])
        else:
            result = affine(values[0].astype(jnp.float32))
        result = jnp.broadcast_to(result, problem.result.sizes)
        return result.transpose(list(reversed(problem.result.minor_to_major)))

    def affine(x):
        scale, zero, bias = (problem.factor(name, np.float32) for name in ("scale", "zero_point", "bias"))
        if problem.quantizes():
            x = jnp.round(x / scale)
            x = jnp.clip(x if zero is None else x + zero, *problem.limits())
        else:
            x = (x if zero is None else x - zero) * scale
            x = x if bias is None else x + bias
        return x.astype(types[problem.result.type])

    arrays = [array(k, operand) for k, operand in enumerate(problem.operands)]
    jitted = jax.jit(compute)

    def run():
        return jitted(*arrays).block_until_ready()
    return run


PEERS = {"NumPy": numpy_peer, "PyTorch": torch_peer, "JAX": jax_peer}
