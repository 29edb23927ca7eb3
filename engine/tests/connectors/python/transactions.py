"""Reads with autocommit off, the default of Python's DB-API: `transactions.py pymysql` or `transactions.py MySQLdb`.

Each transaction begins with its first read.
"""

import sys

from scenario import again, connect


def main(library):
    line, other = connect(library), connect(library)
    cursor, writer = line.cursor(), other.cursor()
    again(cursor, "first", 1)
    again(cursor, "another row", 2)
    writer.execute("UPDATE item SET price = price + 1 WHERE id = 1")
    other.commit()
    again(cursor, "the same snapshot", 1)
    line.commit()
    again(cursor, "fresh", 1)
    cursor.execute("UPDATE item SET note = 'gone' WHERE id = 1")
    again(cursor, "its own write", 1)
    line.rollback()
    again(cursor, "rolled back", 1)
    line.close()
    other.close()


main(sys.argv[1])
