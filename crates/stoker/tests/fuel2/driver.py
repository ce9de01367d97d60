"""Runs command lines of the unmodified fuel2 in one process, because its startup takes longer than most commands.

Reads JSON objects {"line": TEXT, "folder": PATH} from standard input, one per line, and writes a response
{"code": NUMBER, "stdout": TEXT, "stderr": TEXT} for each.
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
    # Each call of main() adds log handlers, which would write to the streams of earlier calls.
    logging.getLogger().handlers.clear()
    with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
        code = run(request["line"])
    response = {"code": code, "stdout": stdout.getvalue(), "stderr": stderr.getvalue()}
    print(json.dumps(response), flush=True)
