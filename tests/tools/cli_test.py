"""The command line itself: its answers, its refusals, and the forms of its output."""

import json
import os
import subprocess
import unittest

from command import CommandTest

TRANSPOSE = "f32[2,3] -> f32[2,3]{0,1}"


class CommandLine(CommandTest):
    def test_version_and_help(self):
        self.assertRegex(self.succeeds("--version"), r"\Arestride \d+\.\d+\.\d+\n\Z")
        self.assertIn("Examples:", self.succeeds("--help"))
        for command in ("explain", "emit", "run", "bench"):
            self.assertIn(command, self.succeeds(command, "--help"))

    def test_bad_requests_are_refused_in_one_line(self):
        for arguments in [
            [],
            ["fly"],
            ["--fly"],
            ["explain"],
            ["explain", TRANSPOSE, "--stage", "mars"],
            ["explain", TRANSPOSE, "--backend", "mars"],
            ["explain", TRANSPOSE, "--target", "mars"],
            ["explain", TRANSPOSE, "surplus"],
            ["emit", TRANSPOSE],
            ["emit", TRANSPOSE, "-o", "kernel.o", "--target", "mars"],
            ["emit", TRANSPOSE, "-o", "kernel.o", "--symbol", "7up"],
            ["run", TRANSPOSE],
            ["run", TRANSPOSE, "in.npy"],
            ["run", TRANSPOSE, "in.npy", "-o", "out.npy", "--threads", "0"],
            ["run", TRANSPOSE, "in.npy", "-o", "out.npy", "--threads", "many"],
            ["run", TRANSPOSE, "in.npy", "in.npy", "-o", "out.npy"],
            ["bench"],
            ["bench", "f32[0] -> f32[0]"],
        ]:
            with self.subTest(arguments):
                self.refused(*arguments)

    def test_bad_problems_are_refused_by_every_command(self):
        for problem in [
            "",
            "f32[2,3]",
            "f32[2,3] -> f32[3,2]",
            "f32[2,3] -> f32[2,3]{0,5}",
            "f32[2,3] -> s32[2,3]",
            "f99[2] -> f99[2]",
            "f32[9223372036854775807,9] -> f32[9223372036854775807,9]",
            "f32[2,3] -> f32[2,3]\n{0,9}",
            "f32[" * 10000,
            "\u2192" * 100,
            "f32[2] -> f32[2,3] dims={7}",
        ]:
            with self.subTest(problem[:60]):
                self.refused("explain", problem)
                self.refused("bench", problem)
                self.refused("run", problem, "in.npy", "-o", "out.npy")
        self.assertEqual(self.files(), [])


PROGRAM = """
#include <restride/object.h>
#include <restride/restride.h>
#include <stdio.h>
#include <string.h>
#include "kernel.h"
int main(void) {
  const float rows[6] = {1, 2, 3, 4, 5, 6}, wanted[6] = {1, 4, 2, 5, 3, 6};
  float columns[6] = {0}, again[6] = {0};
  char message[256];
  void* const operands[] = {again, (void*)rows};
  restride_plan* plan;
  if (restride_plan_load(&kernel_object, &plan, message, sizeof message) != RESTRIDE_OK) return puts(message), 3;
  if (restride_plan_execute(plan, rows, sizeof rows, columns, sizeof columns, NULL, message, sizeof message) != RESTRIDE_OK)
    return puts(message), 4;
  restride_plan_destroy(plan);
  kernel(NULL, operands, 0, KERNEL_UNITS);
  return memcmp(columns, wanted, sizeof wanted) != 0 || memcmp(again, wanted, sizeof wanted) != 0;
}
"""


def skip_without_llvm(test):
    if test.restride("explain", TRANSPOSE, "--backend", "llvm").returncode != 0:
        test.skipTest("this build has no LLVM")


class Emit(CommandTest):
    def setUp(self):
        super().setUp()
        skip_without_llvm(self)

    def test_writes_an_object_and_a_header_for_any_target(self):
        for target in ("sse2", "avx512_vbmi", "neon", "sve128", "sve256"):
            text = self.succeeds("emit", TRANSPOSE, "-o", "kernel.o", "--header", "kernel.h", "--target", target)
            self.assertIn("for " + target, text)
            self.assertEqual((self.folder / "kernel.o").read_bytes()[:4], b"\x7fELF")
            self.assertIn("Compiled ahead of time for " + target, (self.folder / "kernel.h").read_text())

    def test_the_object_links_into_a_program_and_runs(self):
        self.succeeds("emit", TRANSPOSE, "-o", "kernel.o", "--header", "kernel.h")
        (self.folder / "main.c").write_text(PROGRAM)
        source = os.environ["RESTRIDE_SOURCE"]
        flags = os.environ["RESTRIDE_FLAGS"].split()
        for command in (
            [os.environ["RESTRIDE_CC"], *flags, "-Wall", "-Werror", "-I", source + "/include", "-c", "main.c"],
            [os.environ["RESTRIDE_CXX"], *flags, "main.o", "kernel.o", os.environ["RESTRIDE_LIBRARY"],
             "-ldl", "-lpthread", "-o", "program"],
            ["./program"],
        ):
            done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=120)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_file_that_cannot_be_written_is_named(self):
        self.refused("emit", TRANSPOSE, "-o", "nowhere/kernel.o", saying="nowhere/kernel.o")


class Explain(CommandTest):
    def test_all_prints_the_summary_and_every_stage(self):
        text = self.succeeds("explain", TRANSPOSE)
        for word in ("problem", "signature", "backend", "bytes read", "space", "schedule", "nest", "program"):
            self.assertRegex(text, rf"(?m)^{word}\b")
        self.assertIn("f32[2,3] -> f32[2,3]{0,1}", text)

    def test_one_stage_prints_that_stage_alone(self):
        whole = self.succeeds("explain", TRANSPOSE)
        for stage in ("space", "schedule", "nest", "program"):
            text = self.succeeds("explain", TRANSPOSE, "--stage", stage)
            self.assertGreater(len(text), 1, stage)
            self.assertIn(text, whole)

    def test_json_is_valid_and_counts_bytes(self):
        explained = json.loads(self.succeeds("explain", "f32[3] -> f32[2,3]{0,1} dims={1}", "--json"))
        self.assertEqual(explained["problem"], "f32[3] -> f32[2,3]{0,1} dims={1}")
        self.assertEqual(explained["bytes_read"], 12)
        self.assertEqual(explained["bytes_written"], 24)
        self.assertEqual(set(explained) & {"space", "schedule", "nest", "program", "asm"},
                         {"space", "schedule", "nest", "program", "asm"})
        alone = json.loads(self.succeeds("explain", TRANSPOSE, "--json", "--stage", "nest"))
        self.assertEqual(set(alone) & {"space", "nest", "asm"}, {"nest"})

    def test_the_interpreter_has_no_machine_code(self):
        explained = json.loads(self.succeeds("explain", TRANSPOSE, "--json", "--backend", "interpreter"))
        self.assertEqual((explained["backend"], explained["code_bytes"], explained["asm"]), ("interpreter", 0, ""))

    def test_code_for_other_machines_is_disassembled(self):
        skip_without_llvm(self)
        for target, instruction in (("neon", "zip1"), ("sve256", "ptrue"), ("avx2", "vunpcklps")):
            text = self.succeeds("explain", "f32[64,60] -> f32[64,60]{0,1}", "--target", target, "--backend", "llvm",
                                 "--stage", "asm")
            self.assertIn(instruction, text)

    def test_equal_problems_have_one_signature(self):
        signatures = {
            json.loads(self.succeeds("explain", problem, "--json"))["signature"]
            for problem in (TRANSPOSE, "s32[3,2]{0,1} -> s32[3,2]{1,0}", "u32[1,2,3] -> u32[1,2,3]{1,0,2}")
        }
        self.assertEqual(len(signatures), 1)


class Bench(CommandTest):
    def test_a_table_for_each_problem(self):
        text = self.succeeds("bench", "f32[16,16] -> f32[16,16]{0,1}", "f32[] -> f32[4096]")
        self.assertIn("of memcpy", text)
        self.assertIn("of memset", text)
        self.assertEqual(text.count("restride interpreter"), 2)


if __name__ == "__main__":
    unittest.main()
