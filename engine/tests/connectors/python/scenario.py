"""The scenario for Python's DB-API: `scenario.py pymysql` or `scenario.py MySQLdb`.

Neither library speaks the binary protocol.
"""

import importlib
import os
import sys

READ = "SELECT id, name, note, price, day, moment FROM c.item WHERE id = "
ROUNDS = 20


def worded(row):
    return "|".join("NULL" if value is None else str(value) for value in row)


def read(cursor, key):
    cursor.execute(READ + "%s", (key,))
    return [worded(row) for row in cursor.fetchall()]


def say(step, rows):
    print(f"{step}: {';'.join(rows)}")


def again(cursor, step, key):
    """Reads the row with this key many times, and prints the step and the row. Fails if the answers differ."""
    answers = {tuple(read(cursor, key)) for _ in range(ROUNDS)}
    assert len(answers) == 1, f"{step}: reads differ: {answers}"
    say(f"{step} text", answers.pop())


def connect(library, **options):
    driver = importlib.import_module(library)
    port = int(os.environ["FQC_PORT"])
    return driver.connect(host="127.0.0.1", port=port, user="root", database="c", charset="utf8mb4", **options)


def main(library):
    line = connect(library, autocommit=True)
    cursor = line.cursor()
    again(cursor, "first", 1)
    cursor.execute("UPDATE item SET price = price + 1 WHERE id = 1")
    again(cursor, "fresh", 1)
    line.begin()
    cursor.execute("UPDATE item SET note = 'gone' WHERE id = 1")
    again(cursor, "inside", 1)
    line.rollback()
    again(cursor, "rolled back", 1)
    line.begin()
    cursor.execute("UPDATE item SET name = %s WHERE id = 1", ("ʎʇıʌ 🐬",))
    line.commit()
    again(cursor, "committed", 1)
    again(cursor, "empty", 99)
    line.close()


if __name__ == "__main__":
    main(sys.argv[1])
