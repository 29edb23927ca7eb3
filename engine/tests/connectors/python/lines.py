"""Runs statements from standard input, one a line, and prints the first value of the first row of each, or an error's number.

`fork` forks a child that uses the connection no more; `run` runs another program; `repeat COUNT STATEMENT` runs one statement so often.
The first argument names the library. A second one, `pure`, takes the library's part in Python.
`FQC_SOCKET` names a unix socket to connect to, in place of `FQC_PORT`.
"""

import importlib
import os
import subprocess
import sys

module, ways = importlib.import_module(sys.argv[1]), sys.argv[2:]
options = {"user": "root", "autocommit": True}
socket = os.environ.get("FQC_SOCKET")
options |= {"unix_socket": socket} if socket else {"host": "127.0.0.1", "port": int(os.environ["FQC_PORT"])}
if module.__name__ == "mysql.connector":
    options |= {"ssl_disabled": True, "use_pure": "pure" in ways, "collation": "utf8mb4_general_ci"}
connection = module.connect(**options)
cursor = connection.cursor()


def answer(statement: str) -> str:
    try:
        cursor.execute(statement)
        rows = cursor.fetchall() if cursor.description else []
    except module.Error as error:
        return f"error {error.args[0]}"
    return str(rows[0][0]) if rows else "-"


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
