"""The samples of README.md and tools/README.md: programs build and run, and `restride` commands succeed."""

import os
import pathlib
import re
import shlex
import subprocess
import unittest

import numpy as np

from command import COMMAND, CommandTest

SOURCE = pathlib.Path(os.environ["RESTRIDE_SOURCE"])


def blocks(language, page="README.md"):
    return re.findall(rf"^```{language}\n(.*?)^```$", (SOURCE / page).read_text(), re.MULTILINE | re.DOTALL)


class Readme(CommandTest):
    def build_and_run(self, name, code, compiler, *flags):
        (self.folder / name).write_text(code)
        command = [os.environ[compiler], *flags, "-Wall", "-Wextra", "-Werror",
                   *shlex.split(os.environ["RESTRIDE_FLAGS"]), "-I", str(SOURCE / "include"), "-c", name]
        subprocess.run(command, cwd=self.folder, check=True)
        link = [os.environ["RESTRIDE_CXX"], *shlex.split(os.environ["RESTRIDE_FLAGS"]),
                pathlib.Path(name).stem + ".o", os.environ["RESTRIDE_LIBRARY"], "-pthread", "-o", "program"]
        subprocess.run(link, cwd=self.folder, check=True)
        subprocess.run(["./program"], cwd=self.folder, check=True, timeout=60)

    def test_programs(self):
        self.assertTrue(blocks("cpp") and blocks("c"))
        for code in blocks("cpp"):
            self.build_and_run("sample.cpp", code, "RESTRIDE_CXX", "-std=c++20")
        for code in blocks("c"):
            self.build_and_run("sample.c", code, "RESTRIDE_CC", "-std=c99")

    def test_ahead_of_time(self):
        if self.restride("explain", "u8[2] -> u8[2]", "--backend", "llvm").returncode != 0:
            self.skipTest("this build has no LLVM")
        [command], [program] = blocks("sh", "tools/README.md"), blocks("c", "tools/README.md")
        self.succeeds(*shlex.split(command)[1:])
        (self.folder / "program.c").write_text(program)
        subprocess.run([os.environ["RESTRIDE_CC"], "-std=c99", "-Wall", "-Wextra", "-Werror",
                        *shlex.split(os.environ["RESTRIDE_FLAGS"]), "-I", str(SOURCE / "include"), "program.c",
                        "transpose.o", "-o", "program"], cwd=self.folder, check=True)
        subprocess.run(["./program"], cwd=self.folder, check=True, timeout=60)

    def test_commands(self):
        np.save(self.folder / "photo.npy", np.arange(1080 * 1920 * 3, dtype=np.uint32).astype(np.uint8)
                .reshape(1080, 1920, 3))
        commands = [line for block in blocks("sh") for line in block.splitlines() if line.startswith("restride ")]
        self.assertTrue(commands)
        for line in commands:
            with self.subTest(line):
                self.succeeds(*shlex.split(line)[1:])


if __name__ == "__main__":
    unittest.main()
