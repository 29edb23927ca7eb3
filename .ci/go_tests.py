"""Runs `go test -json` with these arguments, prints its tests as `go test -v` does, and reports them, without
subtests, as JUnit XML."""

import json
import subprocess
import sys

import junit

OUTCOMES = {"pass": "passed", "fail": "failed", "skip": "skipped"}


def main(arguments: list[str]) -> int:
    started = subprocess.Popen(["go", "test", "-json", *arguments], text=True, stdout=subprocess.PIPE)
    assert started.stdout
    cases, said = [], dict[tuple[str, str], list[str]]()
    for line in started.stdout:
        try:
            event = json.loads(line)
        except ValueError:
            print(line, end="", flush=True)
            continue
        test = (event.get("Package", ""), event.get("Test", "").partition("/")[0])
        if event["Action"] in ("output", "build-output"):
            said.setdefault(test, []).append(event["Output"])
            print(event["Output"], end="", flush=True)
        elif event["Action"] in OUTCOMES and event.get("Test") == test[1]:
            cases.append(case(event, said.pop(test, [])))
    code = started.wait()
    if not code and not cases:
        print("there is no such test")
        return 1
    if code and not any(each.outcome == "failed" for each in cases):
        last = "".join(line for lines in said.values() for line in lines[-20:])
        cases.append(junit.Case("go test", "failed", message=last))
    junit.write("go", cases)
    return code


def case(event: dict[str, object], said: list[str]) -> junit.Case:
    name, outcome = str(event["Test"]), OUTCOMES[str(event["Action"])]
    return junit.Case(name, outcome, float(str(event.get("Elapsed", 0))), "".join(said))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
