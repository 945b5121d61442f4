"""The command line itself: its answers, its refusals, and the forms of its output."""

import json
import unittest

from command import CommandTest

TRANSPOSE = "f32[2,3] -> f32[2,3]{0,1}"


class CommandLine(CommandTest):
    def test_version_and_help(self):
        self.assertRegex(self.succeeds("--version"), r"\Arestride \d+\.\d+\.\d+\n\Z")
        self.assertIn("Examples:", self.succeeds("--help"))
        for command in ("explain", "run", "bench"):
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
