"""`restride bench` and what reads its files. No figure of time is looked at."""

import csv
import json
import os
import pathlib
import platform
import re
import shlex
import subprocess
import sys
import unittest

from command import COMMAND, CommandTest

SOURCE = pathlib.Path(os.environ["RESTRIDE_SOURCE"])
BENCH = SOURCE / "bench"
SUITE = """# A few.
transpose: f32[16,16] -> f32[16,16]{0,1}
broadcast: f32[] -> f32[4096]
fill: u8[5,3] -> u8[5,3]{0,1:PAD(6,3;zero)}
later: s4[3,5]{1,0:E(4)} -> s4[3,5]{0,1:E(4)}
"""

# A peer that walks the loops, of any element.
PEER = """#include <cstring>
#include "permutation.hpp"
using namespace restride::bench;

static restride::Result<Move> prepare(const Work& work) {
  return Move([work](const std::byte* source, std::byte* target) {
    for_each(work.dimensions, source, target, [&](const std::byte* from, std::byte* to) {
      std::memcpy(to, from, static_cast<size_t>(work.element_bytes));
    });
  });
}

const Peer* restride_peer() {
  static constexpr Peer peer = {"mine", "1.2", prepare};
  return &peer;
}
"""
WRONG_PYTHON_PEER = """name, version = "liar", "1"
def prepare(loops):
    return lambda: loops.target
"""


def result(name, seconds, median=None):
    """A suite of one case where ours takes `seconds` and memcpy one."""
    ours = {"name": "restride x", "role": "ours", "status": "timed", "seconds": seconds,
            "median_seconds": median or seconds, "share_of_ceiling": 1 / seconds, "share_of_library": 1 / seconds}
    return {"format": 1, "suites": [{"name": "s", "about": "", "cases": [{"name": name, "candidates": [ours]}]}]}


class Suites(CommandTest):
    def setUp(self):
        super().setUp()
        (self.folder / "few.txt").write_text(SUITE)

    def bench(self, *arguments):
        text = self.succeeds("bench", "--suite", "few.txt", "--quick", "--json", "out.json", *arguments)
        return text, json.loads((self.folder / "out.json").read_text())

    def test_the_file_holds_all_candidates_of_all_cases(self):
        text, file = self.bench("--no-peers", "--csv", "out.csv")
        self.assertEqual(file["format"], 1)
        self.assertIn("processor", file["machine"])
        suite = file["suites"][0]
        self.assertEqual((suite["name"], suite["about"]), ("few", "A few."))
        cases = {case["name"]: case for case in suite["cases"]}
        self.assertEqual(list(cases), ["transpose", "broadcast", "fill", "later"])
        self.assertEqual((cases["fill"]["read_bytes"], cases["fill"]["written_bytes"]), (15, 18))
        self.assertEqual(cases["transpose"]["loops"]["dimensions"], [[16, 4, 64], [16, 64, 4]])
        ours = cases["transpose"]["candidates"][0]
        self.assertEqual((ours["role"], ours["status"]), ("ours", "timed"))
        self.assertLessEqual(ours["seconds"], ours["median_seconds"])
        names = [c["name"] for c in cases["broadcast"]["candidates"] if c["role"] == "reference"]
        self.assertEqual(names[0], "memset")
        ceilings = [c["share_of_ceiling"] for c in cases["fill"]["candidates"] if c["role"] == "reference"]
        self.assertEqual(max(ceilings), 1)
        with open(self.folder / "out.csv", newline="") as table:
            rows = list(csv.DictReader(table))
        self.assertEqual(len(rows), sum(len(case["candidates"]) for case in suite["cases"]))
        self.assertIn("geometric mean", text)

    def test_what_does_not_run_yet_is_a_row(self):
        text, file = self.bench("--no-peers", "--filter", "later")
        status = file["suites"][0]["cases"][0]["candidates"][0]["status"]
        self.assertIn(status, ("not applicable", "timed"))
        self.assertEqual(len(file["suites"][0]["cases"]), 1)
        self.assertIn("later", text)

    def test_a_peer_that_is_wrong_is_reported_and_not_timed(self):
        text, file = self.bench("--filter", "transpose", "--peer", os.environ["RESTRIDE_WRONG_PEER"])
        liar = next(c for c in file["suites"][0]["cases"][0]["candidates"] if c["name"] == "liar")
        self.assertEqual(liar["status"], "wrong")
        self.assertNotIn("seconds", liar)
        self.assertIn("liar WRONG", text)
        self.assertEqual(file["suites"][0]["summary"]["wrong"], 1)

    def test_threads_and_pages_are_recorded(self):
        _, file = self.bench("--no-peers", "--filter", "transpose", "--threads", "2", "--pages", "2m")
        settings = file["settings"]
        self.assertEqual((settings["threads"], settings["pages"], settings["target"]), (2, "2m", "host"))

    def test_arrays_may_begin_between_lines(self):
        text, file = self.bench("--no-peers", "--filter", "transpose", "--offset", "17")
        self.assertEqual(file["settings"]["offset"], 17)
        self.assertNotIn("WRONG", text)

    @unittest.skipUnless(platform.machine() == "x86_64", "for x86")
    def test_another_target_is_planned_for_and_recorded(self):
        _, file = self.bench("--no-peers", "--filter", "transpose", "--target", "sse2")
        self.assertEqual(file["settings"]["target"], "sse2")
        _, host = self.bench("--no-peers", "--filter", "transpose")
        operations = [f["suites"][0]["cases"][0]["candidates"][0]["operations"] for f in (file, host)]
        self.assertNotEqual(*operations)

    def test_bad_requests_are_refused(self):
        (self.folder / "bad.txt").write_text("a: f32[2] -> f32[3]\n")
        for arguments, saying in [
            (["--suite", "mars"], "mars"),
            (["--suite", "bad.txt"], "bad:1"),
            (["--suite", "few.txt", "--filter", "mars"], "no case matches"),
            (["--suite", "few.txt", "--filter", "("], "regular expression"),
            (["--suite", "few.txt", "--peer", "few.txt"], "no peer"),
            (["--suite", "few.txt", "--pages", "3k"], "3k"),
            (["--suite", "few.txt", "--target", "mars"], "mars"),
        ]:
            with self.subTest(arguments):
                self.refused("bench", *arguments, saying=saying)

    def test_a_cliff_map_is_a_file_of_results(self):
        self.succeeds("bench", "--cliff-map", "map.json", "--quick", "--filter", "^p10_4x16x16$|^p021_1x3x4$")
        file = json.loads((self.folder / "map.json").read_text())
        problems = {c["name"]: c["problem"] for c in file["suites"][0]["cases"]}
        self.assertEqual(problems["p10_4x16x16"], "u32[16,16] -> u32[16,16]{0,1}")
        self.assertEqual(problems["p021_1x3x4"], "u8[24,3,4] -> u8[24,3,4]{1,2,0}")

    def test_a_peer_is_one_file(self):
        (self.folder / "mine.cpp").write_text(PEER)
        command = re.search(r"^g\+\+ .*$", (BENCH / "README.md").read_text(), re.MULTILINE).group()
        command = command.replace("-I include -I bench/peers", f"-I {SOURCE}/include -I {SOURCE}/bench/peers")
        compiler, *arguments = shlex.split(command)
        self.assertEqual(compiler, "g++")
        subprocess.run([os.environ["RESTRIDE_CXX"], *arguments], cwd=self.folder, check=True)
        _, file = self.bench("--filter", "transpose", "--peer", "mine.so")
        mine = next(c for c in file["suites"][0]["cases"][0]["candidates"] if c["name"] == "mine")
        self.assertEqual(mine["status"], "timed", mine)
        self.assertEqual(file["settings"]["peers"]["mine"], "1.2")

    def python_peers(self, *arguments):
        found = subprocess.run([sys.executable, "-B", BENCH / "python_peers.py", "out.json", "--seconds", "0.01",
                                *arguments], cwd=self.folder, check=True, capture_output=True, text=True)
        file = json.loads((self.folder / "out.json").read_text())
        return found.stdout, {case["name"]: {c["name"]: c for c in case["candidates"]}
                              for case in file["suites"][0]["cases"]}

    def test_python_is_merged_into_the_file(self):
        self.bench("--no-peers", "--filter", "transpose|broadcast")
        _, cases = self.python_peers()
        for candidates in cases.values():
            self.assertEqual(candidates["NumPy"]["status"], "timed", candidates["NumPy"])
        _, again = self.python_peers()
        self.assertEqual(again, cases, "what is there is not measured again")

    def test_a_python_peer_that_is_wrong_is_reported_and_not_timed(self):
        self.bench("--no-peers", "--filter", "transpose")
        (self.folder / "liar.py").write_text(WRONG_PYTHON_PEER)
        text, cases = self.python_peers("--peer", "liar.py")
        self.assertEqual(cases["transpose"]["liar"]["status"], "wrong")
        self.assertNotIn("seconds", cases["transpose"]["liar"])
        self.assertIn("WRONG", text)

    def test_the_report_has_a_row_a_case_and_goes_into_a_page(self):
        (self.folder / "results" / "other").mkdir(parents=True)
        self.bench("--no-peers", "--threads", "2")
        (self.folder / "out.json").rename(self.folder / "results" / "other" / "dl.json")
        self.bench("--no-peers")
        (self.folder / "out.json").rename(self.folder / "results" / "dl.json")
        (self.folder / "page.md").write_text("before\n<!-- measured: begin -->\nold\n<!-- measured: end -->\nafter\n")
        subprocess.run([sys.executable, "-B", BENCH / "report.py", "results", "results/report.md", "page.md"],
                       cwd=self.folder, check=True, capture_output=True)
        report = (self.folder / "results" / "report.md").read_text()
        self.assertRegex(report, r"(?m)^\| transpose \|")
        page = (self.folder / "page.md").read_text()
        self.assertRegex(page, r"(?s)\Abefore\n<!-- measured: begin -->\n.*\| `few` \| [34] \|.*<!-- measured: end -->\nafter\n\Z")
        self.assertNotIn("old", page)
        self.assertRegex(page, r"(?m)^\| suite \| planned for host, threads 2 \|\n\|---\|---\|\n\| `dl` \| [.\d]+, [.\d]+ `\w+` \|$")
        with open(self.folder / "results" / "results.csv", newline="") as table:
            self.assertIn("transpose", {row["case"] for row in csv.DictReader(table)})


class Regress(CommandTest):
    def compare(self, old, new):
        for name, content in (("old.json", old), ("new.json", new)):
            (self.folder / name).write_text(json.dumps(content))
        return subprocess.run([sys.executable, "-B", BENCH / "regress", "old.json", "new.json"], cwd=self.folder,
                              capture_output=True, text=True, check=False)

    def test_verdicts(self):
        for old, new, code, saying in [
            (result("a", 2), result("a", 2.04), 0, "1 same"),
            (result("a", 2), result("a", 3), 1, "1 losses"),
            (result("a", 3), result("a", 2), 0, "1 gains"),
            (result("a", 2, 2.8), result("a", 2.4), 0, "1 same"),
            (result("a", 2), result("b", 2), 1, "1 no longer timed"),
        ]:
            found = self.compare(old, new)
            self.assertEqual(found.returncode, code, found.stdout + found.stderr)
            self.assertIn(saying, found.stdout)

    def test_the_same_build_plans_the_same(self):
        (self.folder / "few.txt").write_text(SUITE)
        found = subprocess.run([sys.executable, "-B", BENCH / "regress", "--operations", COMMAND, COMMAND, "few.txt"],
                               cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual(found.returncode, 0, found.stdout + found.stderr)
        self.assertIn("0 losses, 0 gains", found.stdout)


if __name__ == "__main__":
    unittest.main()
