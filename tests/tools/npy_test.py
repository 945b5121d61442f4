"""`restride run`: files in and out, against NumPy; and files that are wrong or hostile."""

import io
import os
import resource
import struct
import unittest

import numpy as np
from numpy.lib import format as npy_format

from command import CommandTest

TRANSPOSE = "f32[2,3] -> f32[2,3]{0,1}"


def npy(header, data=b"", version=(1, 0), length=None):
    """An .npy file of any header text. `length` lies about the header's size."""
    header = header if isinstance(header, bytes) else header.encode()
    form = "<H" if version[0] == 1 else "<I"
    size = struct.pack(form, len(header) if length is None else length)
    return b"\x93NUMPY" + bytes(version) + size + header + data


def described(descr="'<f4'", order="False", shape="(2, 3)", more=""):
    return "{'descr': %s, 'fortran_order': %s, 'shape': %s, %s}\n" % (descr, order, shape, more)


class RoundTrips(CommandTest):
    def write(self, name, array, version=(1, 0)):
        with open(self.folder / name, "wb") as file:
            npy_format.write_array(file, array, version=version)

    def run_verified(self, problem, *options):
        text = self.succeeds("run", problem, "in.npy", "-o", "out.npy", "--verify", *options)
        self.assertRegex(text, r"(?m)^verified \d+ elements$")
        return np.load(self.folder / "out.npy")

    def test_a_transpose_by_every_header_version(self):
        array = np.arange(6, dtype="<f4").reshape(2, 3)
        for version in [(1, 0), (2, 0), (3, 0)]:
            with self.subTest(version):
                self.write("in.npy", array, version)
                result = self.run_verified(TRANSPOSE)
                self.assertEqual(result.dtype, array.dtype)
                np.testing.assert_array_equal(result, array.T)

    def test_a_fortran_order_file_has_the_column_major_layout(self):
        array = np.arange(6, dtype="<f4").reshape(2, 3)
        self.write("in.npy", np.asfortranarray(array))
        np.testing.assert_array_equal(self.run_verified("f32[2,3]{0,1} -> f32[2,3]"), array)
        message = self.refused("run", TRANSPOSE, "in.npy", "-o", "other.npy", saying="[3,2] (Fortran order)")
        self.assertIn("[2,3]", message)

    def test_element_types(self):
        types = {"pred": "?", "s8": "i1", "s16": "<i2", "s32": "<i4", "s64": "<i8", "u8": "u1", "u16": "<u2",
                 "u32": "<u4", "u64": "<u8", "f16": "<f2", "f32": "<f4", "f64": "<f8", "c64": "<c8",
                 "c128": "<c16", "bf16": "V2", "f8e4m3fn": "V1", "s4": "V1"}
        random = np.random.default_rng(1)
        for name, descr in types.items():
            with self.subTest(name):
                width = np.dtype(descr).itemsize
                low_bits = random.integers(0, 2 if name == "pred" else 16, 35 * width, np.uint8)
                array = low_bits.view(descr).reshape(5, 7)
                self.write("in.npy", array)
                result = self.run_verified(f"{name}[5,7] -> {name}[5,7]{{0,1}}")
                self.assertEqual(result.dtype, array.dtype)
                self.assertEqual(result.tobytes(), array.T.tobytes())

    def test_files_of_bfloat16_packages_are_read(self):
        data = bytes(range(12))
        for descr in ("'<V2'", "'|V2'", "'bfloat16'"):
            with self.subTest(descr):
                (self.folder / "in.npy").write_bytes(npy(described(descr), data))
                self.run_verified("bf16[2,3] -> bf16[2,3]{0,1}")

    def test_padding_and_tiles_are_dimensions_of_the_file(self):
        array = np.arange(15, dtype="<f4").reshape(3, 5)
        self.write("in.npy", array)
        padded = self.run_verified("f32[3,5] -> f32[3,5]{1,0:PAD(4,8;one)}")
        np.testing.assert_array_equal(padded, np.pad(array, ((0, 1), (0, 3)), constant_values=1))
        tiled = self.run_verified("f32[3,5] -> f32[3,5]{1,0:T(2,2)}")
        expected = np.pad(array, ((0, 1), (0, 1))).reshape(2, 2, 3, 2).transpose(0, 2, 1, 3)
        np.testing.assert_array_equal(tiled, expected)
        os.replace(self.folder / "out.npy", self.folder / "in.npy")
        np.testing.assert_array_equal(self.run_verified("f32[3,5]{1,0:T(2,2)} -> f32[3,5]"), array)

    def test_scalars_broadcasts_and_empty_arrays(self):
        self.write("in.npy", np.array(7, dtype="<f4"))
        np.testing.assert_array_equal(self.run_verified("f32[] -> f32[3,2]"), np.full((3, 2), 7))
        np.testing.assert_array_equal(self.run_verified("f32[] -> f32[]"), np.array(7))
        self.write("in.npy", np.arange(3, dtype="<f4"))
        np.testing.assert_array_equal(self.run_verified("f32[3] -> f32[2,3] dims={1}"), [[0, 1, 2]] * 2)
        self.write("in.npy", np.zeros((0, 3), dtype="<f4"))
        self.assertEqual(self.run_verified("f32[0,3] -> f32[0,3]{0,1}").shape, (3, 0))

    def test_raw_files_hold_exactly_the_bytes(self):
        (self.folder / "in.bin").write_bytes(bytes(range(6)))
        self.succeeds("run", "u8[2,3] -> u8[2,3]{0,1}", "in.bin", "-o", "out.bin", "--verify")
        self.assertEqual((self.folder / "out.bin").read_bytes(), bytes([0, 3, 1, 4, 2, 5]))
        self.refused("run", "u8[2,4] -> u8[2,4]{0,1}", "in.bin", "-o", "more.bin", saying="6 bytes")

    def test_packed_elements_are_a_row_of_bytes(self):
        self.write("in.npy", np.array([0x21, 0x43, 0x65, 0x87], dtype=np.uint8))
        result = self.run_verified("s4[2,2,2]{2,1,0:E(4)} -> s4[2,2,2]{2,0,1:E(4)}")
        np.testing.assert_array_equal(result, [0x21, 0x65, 0x43, 0x87])

    def test_backends_and_threads(self):
        array = np.random.default_rng(2).integers(0, 255, (101, 67, 3), dtype=np.uint8)
        self.write("in.npy", array)
        for options in (["--backend", "interpreter"], ["--backend", "auto"], ["--threads", "3"]):
            with self.subTest(options):
                result = self.run_verified("u8[101,67,3] -> u8[101,67,3]{1,0,2}", *options)
                np.testing.assert_array_equal(result, array.transpose(2, 0, 1))

    def test_an_output_replaces_what_was_there_and_leaves_nothing_else(self):
        self.write("in.npy", np.zeros((2, 3), dtype="<f4"))
        (self.folder / "out.npy").write_text("old")
        (self.folder / "link.npy").symlink_to("out.npy")
        self.succeeds("run", TRANSPOSE, "in.npy", "-o", "link.npy")
        self.assertTrue((self.folder / "link.npy").is_symlink())
        self.assertEqual(np.load(self.folder / "out.npy").shape, (3, 2))
        self.assertEqual(self.files(), ["in.npy", "link.npy", "out.npy"])


class Refusals(CommandTest):
    def setUp(self):
        super().setUp()
        self.good = npy(described(), bytes(24))
        (self.folder / "good.npy").write_bytes(self.good)

    def test_the_good_file_is_good(self):
        self.succeeds("run", TRANSPOSE, "good.npy", "-o", "out.npy")

    def test_files_that_are_wrong(self):
        good = self.good
        other = io.BytesIO()
        np.save(other, np.zeros((2, 3), dtype=[("a", "<f4")]))
        nothing = io.BytesIO()
        np.save(nothing, np.array([[None] * 3] * 2), allow_pickle=True)
        for name, content, saying in [
            ("empty", b"", "0 bytes"),
            ("no npy", b"hello", "5 bytes"),
            ("magic only", good[:6], "truncated"),
            ("cut in the length", good[:9], "truncated"),
            ("cut in the header", good[:40], "truncated"),
            ("cut in the data", good[:-1], "23 bytes"),
            ("surplus data", good + b"x", "25 bytes"),
            ("version 4", npy(described(), bytes(24), (4, 0)), "version 4"),
            ("huge header", npy(described(), bytes(24), (2, 0), 0xFFFFFFFF), "length 4294967295"),
            ("header length beyond the end", npy(described(), bytes(24), (1, 0), 0xFFFF), "truncated"),
            ("zero header", npy("", bytes(24)), "not a dictionary"),
            ("structured", other.getvalue(), "structured"),
            ("objects", nothing.getvalue(), "objects"),
            ("big-endian", npy(described("'>f4'"), bytes(24)), "big-endian"),
            ("other type", npy(described("'<i4'"), bytes(24)), "<i4"),
            ("no type", npy(described("''"), bytes(24)), "element type"),
            ("transposed shape", npy(described(shape="(3, 2)"), bytes(24)), "[3,2]"),
            ("other rank", npy(described(shape="(6,)"), bytes(24)), "[6]"),
            ("negative", npy(described(shape="(-2, -3)"), bytes(24)), "negative"),
            ("overflow", npy(described(shape="(99999999999999999999, 3)"), bytes(24)), "overflows"),
            ("product overflow", npy(described(shape="(4294967296, 4294967296)"), bytes(24)), "overflows"),
            ("zero hides overflow", npy(described(shape="(0, 4294967296, 4294967296)")), "overflows"),
            ("many dimensions", npy(described(shape="(" + "1," * 5000 + ")"), bytes(24)), "64"),
            ("deep nesting", npy(described(shape="(" * 9000), bytes(24)), "not a number"),
            ("deep key nesting", npy("{" * 60000, bytes(24)), "quoted"),
            ("number for a tuple", npy(described(shape="(6)"), bytes(24)), "tuple"),
            ("expression", npy(described(shape="(2, 1+2)"), bytes(24)), "tuple of numbers"),
            ("float size", npy(described(shape="(2, 3.0)"), bytes(24)), "tuple of numbers"),
            ("order is a number", npy(described(order="0"), bytes(24)), "fortran_order"),
            ("duplicate key", npy(described(more="'shape': (2, 3)"), bytes(24)), "twice"),
            ("unknown key", npy(described(more="'x': 1"), bytes(24)), "unknown key"),
            ("missing key", npy("{'descr': '<f4', 'shape': (2, 3), }", bytes(24)), "missing"),
            ("open string", npy("{'descr", bytes(24)), "does not end"),
            ("escape", npy(described(r"'\x3cf4'"), bytes(24)), "escape"),
            ("not ASCII", npy("{'descr': '<f4\u00e9'}", bytes(24), (3, 0)), "ASCII"),
            ("control bytes", npy(b"{'descr': '\x1b[31m'}", bytes(24)), "ASCII"),
            ("code behind", npy(described() + "; import os", bytes(24)), "behind"),
            ("no commas", npy("{'descr': '<f4' 'fortran_order': False}", bytes(24)), "commas"),
        ]:
            with self.subTest(name):
                (self.folder / "in.npy").write_bytes(content)
                message = self.refused("run", TRANSPOSE, "in.npy", "-o", "out.npy", saying=saying)
                self.assertIn("in.npy", message)
                self.assertEqual(self.files(), ["good.npy", "in.npy"])

    def test_every_cut_and_many_corruptions_are_refused_or_run(self):
        random = np.random.default_rng(3)
        for trial in range(200):
            content = bytearray(self.good)
            if trial < 100:
                content = content[: trial * len(content) // 100]
            else:
                content[random.integers(6, len(content) - 24)] = random.integers(0, 256)
            (self.folder / "in.npy").write_bytes(bytes(content))
            result = self.restride("run", TRANSPOSE, "in.npy", "-o", "out.npy")
            self.assertIn(result.returncode, (0, 2), result.stderr)
            if trial < 100:
                self.assertEqual(result.returncode, 2)

    def test_inputs_that_cannot_be_read(self):
        os.mkfifo(self.folder / "pipe")
        for name in ("missing.npy", ".", "pipe", "a\nb\x1b[31m.npy", ""):
            with self.subTest(name):
                self.refused("run", TRANSPOSE, name, "-o", "out.npy")

    def test_outputs_that_cannot_be_written(self):
        os.mkdir(self.folder / "folder")
        os.mkfifo(self.folder / "pipe")
        os.symlink("good.npy", self.folder / "alias.npy")
        before = self.files()
        for name, saying in [("good.npy", "input too"), ("alias.npy", "input too"), ("folder", "regular file"),
                             ("pipe", "regular file"),
                             ("missing/out.npy", "missing/out.npy"), ("folder/../nowhere/x", "nowhere")]:
            with self.subTest(name):
                message = self.restride("run", TRANSPOSE, "good.npy", "-o", name)
                self.assertEqual(message.returncode, 2)
                self.assertRegex(message.stderr, r"\Arestride: [^\n]+\n\Z")
                self.assertIn(saying, message.stderr)
        self.assertEqual(self.files(), before)
        self.assertEqual((self.folder / "good.npy").read_bytes(), self.good)

    def test_a_full_disk_leaves_no_file_and_the_old_result(self):
        (self.folder / "out.npy").write_text("old")
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
        result = self.restride("run", TRANSPOSE, "good.npy", "-o", "out.npy", preexec_fn=limit)
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr, r"\Arestride: out.npy: cannot be written: [^\n]+\n\Z")
        self.assertEqual(self.files(), ["good.npy", "out.npy"])
        self.assertEqual((self.folder / "out.npy").read_text(), "old")

    def test_an_impossible_amount_of_memory_is_an_error(self):
        (self.folder / "in.bin").write_bytes(b"x")
        self.refused("run", "u8[] -> u8[4000000000000000]", "in.bin", "-o", "out.bin", saying="memory")
        self.assertEqual(self.files(), ["good.npy", "in.bin"])


if __name__ == "__main__":
    unittest.main()
