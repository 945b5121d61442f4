"""Runs the command line under test in a folder of its own."""

import os
import pathlib
import subprocess
import tempfile
import unittest

COMMAND = os.environ["RESTRIDE_COMMAND"]


class CommandTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def restride(self, *arguments, **options):
        return subprocess.run([COMMAND, *map(str, arguments)], cwd=self.folder, capture_output=True,
                              text=True, timeout=120, stdin=subprocess.DEVNULL, **options)

    def succeeds(self, *arguments, **options):
        result = self.restride(*arguments, **options)
        self.assertEqual(result.returncode, 0, result.stderr + result.stdout)
        self.assertEqual(result.stderr, "")
        return result.stdout

    def refused(self, *arguments, saying="", **options):
        """Exit code 2, one line on stderr that names the program, nothing on stdout."""
        result = self.restride(*arguments, **options)
        self.assertEqual(result.returncode, 2, result.stderr + result.stdout)
        self.assertRegex(result.stderr, r"\Arestride: [^\n]+\n\Z")
        self.assertEqual(result.stdout, "")
        self.assertIn(saying, result.stderr)
        return result.stderr

    def files(self):
        return sorted(path.name for path in self.folder.iterdir())
