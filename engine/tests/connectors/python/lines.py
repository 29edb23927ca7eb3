"""Runs statements from standard input, one a line, and prints the first value of the first row of each, or an error's number.

`fork` forks a child that uses the connection no more; `run` runs another program; `repeat COUNT STATEMENT` runs one statement so often.
"""

import importlib
import os
import subprocess
import sys

module = importlib.import_module(sys.argv[1])
connection = module.connect(host="127.0.0.1", port=int(os.environ["FQC_PORT"]), user="root", autocommit=True)
cursor = connection.cursor()


def answer(statement: str) -> str:
    try:
        cursor.execute(statement)
        row = cursor.fetchone()
    except module.Error as error:
        return f"error {error.args[0]}"
    return "-" if row is None else str(row[0])


for line in sys.stdin:
    words = line.strip().split(maxsplit=2)
    if words == ["fork"]:
        child = os.fork()
        if child == 0:
            os._exit(0)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
    elif words == ["run"]:
        print(subprocess.run(["true"], check=False).returncode, flush=True)
    elif words[0] == "repeat":
        print(",".join(sorted({answer(words[2]) for _ in range(int(words[1]))})), flush=True)
    else:
        print(answer(line.strip()), flush=True)
