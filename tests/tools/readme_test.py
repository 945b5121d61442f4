"""The README's samples: its programs build and run, and its `restride` commands succeed."""

import os
import pathlib
import re
import shlex
import subprocess
import unittest

import numpy as np

from command import COMMAND, CommandTest

SOURCE = pathlib.Path(os.environ["RESTRIDE_SOURCE"])
README = (SOURCE / "README.md").read_text()


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


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
