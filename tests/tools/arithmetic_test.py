"""Conversions and binary operations on files, against NumPy."""

import unittest

import numpy as np

from command import CommandTest

RANDOM = np.random.default_rng(7)
MATRIX = RANDOM.standard_normal((5, 7)).astype(np.float32)
ROW = RANDOM.standard_normal(7).astype(np.float32)
COLUMN = RANDOM.standard_normal((5, 1)).astype(np.float32)
INTEGERS = RANDOM.integers(-128, 128, (5, 7), np.int8)
IMAGE = RANDOM.integers(0, 256, (4, 6, 3), np.uint8)
SCALE, BIAS = np.float32([0.017, 0.0175, 0.0174]), np.float32([-2.1, -2, -1.8])
QUANTIZED = np.rint(MATRIX / np.float32(0.02)) + np.float32(3)

# The problem, its inputs, and the bytes of its output as they lie in memory.
CASES = [
    ("add(f32[5,7], f32[7] dims={1}) -> f32[5,7]", [MATRIX, ROW], MATRIX + ROW),
    ("subtract(f32[7] dims={1}, f32[5,7]) -> f32[5,7]", [ROW, MATRIX], ROW - MATRIX),
    ("multiply(f32[5,1], f32[1,7]) -> f32[5,7]", [COLUMN, ROW[None]], COLUMN * ROW),
    ("divide(f32[5,7]{0,1}, f32[5,7]{0,1}) -> f32[5,7]{0,1}", [MATRIX.T, MATRIX.T[::-1]], (MATRIX / MATRIX[:, ::-1]).T),
    ("maximum(s8[5,7], s8[]) -> s8[5,7]", [INTEGERS, np.int8(3)], np.maximum(INTEGERS, np.int8(3))),
    ("multiply(s8[5,7], s8[5,7]) -> s8[5,7]", [INTEGERS, INTEGERS], INTEGERS * INTEGERS),
    ("less(f32[5,7], f32[7] dims={1}) -> pred[5,7]", [MATRIX, ROW], MATRIX < ROW),
    ("convert(f32[5,7]) -> f16[5,7]", [MATRIX], MATRIX.astype(np.float16)),
    ("convert(s8[5,7]) -> f64[5,7]", [INTEGERS], INTEGERS.astype(np.float64)),
    ("convert(u8[4,6,3]) -> f32[4,6,3] scale={0.017,0.0175,0.0174} bias={-2.1,-2,-1.8} dim=2",
     [IMAGE], IMAGE.astype(np.float32) * SCALE + BIAS),
    ("convert(f32[5,7]) -> s8[5,7] scale={0.02} zero_point={3}",
     [MATRIX], np.clip(QUANTIZED, -128, 127).astype(np.int8)),
]


class Arithmetic(CommandTest):
    def save(self, arrays):
        names = [f"{number}.npy" for number in range(len(arrays))]
        for name, array in zip(names, arrays):
            np.save(self.folder / name, np.ascontiguousarray(array).reshape(np.shape(array)))
        return names

    def test_results_are_those_of_numpy(self):
        for problem, inputs, expected in CASES:
            with self.subTest(problem):
                printed = self.succeeds("run", problem, *self.save(inputs), "-o", "out.npy", "--verify")
                self.assertIn("verified", printed)
                found = np.load(self.folder / "out.npy")
                self.assertEqual(found.dtype, expected.dtype)
                np.testing.assert_array_equal(found, expected)

    def test_inputs_are_counted_and_compared_with_their_sources(self):
        problem = "add(f32[5,7], f32[7] dims={1}) -> f32[5,7]"
        matrix, row = self.save([MATRIX, ROW])
        self.refused("run", problem, matrix, "-o", "out.npy", saying="1 input files: the problem has 2 sources")
        self.refused("run", problem, row, matrix, "-o", "out.npy", saying="1.npy: lies in memory as [7]")
        self.refused("run", problem, matrix, row, "-o", row, saying="is an input too")


if __name__ == "__main__":
    unittest.main()
