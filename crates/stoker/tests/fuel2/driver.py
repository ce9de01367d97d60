"""Runs command lines of the unmodified fuel2 in one process: its start costs more than most of its commands.

Each line of the input is a JSON object {"line": TEXT, "folder": PATH}; each line of the output the answer to one:
{"code": NUMBER, "stdout": TEXT, "stderr": TEXT}.
"""

import contextlib
import io
import json
import logging
import os
import shlex
import sys

from fuelclient import main


def run(line):
    try:
        return main.main(shlex.split(line))
    except SystemExit as stop:
        return stop.code


for request in map(json.loads, sys.stdin):
    os.chdir(request["folder"])
    stdout, stderr = io.StringIO(), io.StringIO()
    # Each start of the program adds handlers, which would write to the streams of earlier ones.
    logging.getLogger().handlers.clear()
    with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
        code = run(request["line"])
    answer = {"code": code, "stdout": stdout.getvalue(), "stderr": stderr.getvalue()}
    print(json.dumps(answer), flush=True)
