"""The arrays and problems of the demo. Moves nothing itself.

demo_array.py photograph IN.jpg OUT.npy    a picture as u8[1080,1920,3]
demo_array.py problems IN.npy              the demo's problems for an array, NAME: PROBLEM a line
demo_array.py bias IN.npy OUT.npy          the array's first entries along its last dimension
demo_array.py data IN.npy OUT.raw          the bytes behind the header
"""

import sys

import numpy as np

TYPES = {"b1": "pred", "i1": "s8", "i2": "s16", "i4": "s32", "i8": "s64", "u1": "u8", "u2": "u16", "u4": "u32",
         "u8": "u64", "f2": "f16", "f4": "f32", "f8": "f64", "c8": "c64", "c16": "c128", "V2": "bf16"}


def numbers(values):
    return ",".join(map(str, values))


def photograph(source, target):
    from PIL import Image

    picture = Image.open(source).convert("RGB").resize((1920, 1080))
    np.save(target, np.asarray(picture, dtype=np.uint8))


def load(path):
    array = np.load(path, mmap_mode="r")
    if array.dtype.str[1:] not in TYPES:
        sys.exit(f"demo: the element type {array.dtype} is not one the demo knows")
    if array.ndim == 0 or not array.flags.c_contiguous:
        sys.exit("demo: the array must be in C order and have a dimension")
    return array


def problems(path):
    array = load(path)
    shape = f"{TYPES[array.dtype.str[1:]]}[{numbers(array.shape)}]"
    element = shape.split("[")[0]
    last = array.ndim - 1
    default = list(range(last, -1, -1))
    moved = default[1:] + [last]
    padded = [*array.shape[:-1], -(-array.shape[-1] // 4) * 4]
    tile = [16, 1] if last else [16]
    print(f"there: {shape} -> {shape}{{{numbers(moved)}}}")
    print(f"back: {shape}{{{numbers(moved)}}} -> {shape}")
    print(f"pad: {shape} -> {shape}{{{numbers(default)}:PAD({numbers(padded)};zero)}}")
    print(f"tile: {shape} -> {shape}{{{numbers(default)}:T({numbers(tile)})}}")
    print(f"broadcast: {element}[{array.shape[-1]}] -> {shape}{{{numbers(moved)}}} dims={{{last}}}")


def bias(source, target):
    array = load(source)
    if array.size == 0:
        sys.exit("demo: the array is empty")
    np.save(target, np.ascontiguousarray(array[(0,) * (array.ndim - 1)]))


def data(source, target):
    np.load(source, mmap_mode="r").tofile(target)


if __name__ == "__main__":
    {"photograph": photograph, "problems": problems, "bias": bias, "data": data}[sys.argv[1]](*sys.argv[2:])
