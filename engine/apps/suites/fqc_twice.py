"""A plugin of pytest for SQLAlchemy's tests: it sends each read twice, and the test sees the second answer.

If the first answer was kept, the second one comes from the cache.
"""


def pytest_sessionstart(session):
    # The tests' own configuration says where SQLAlchemy is, so it cannot be imported earlier.
    from sqlalchemy.dialects.mysql.mysqldb import MySQLDialect_mysqldb as Dialect

    execute = Dialect.do_execute

    def twice(self, cursor, statement, parameters, context=None):
        if statement.lstrip().startswith(("SELECT", "(SELECT")) and "FOR UPDATE" not in statement:
            execute(self, cursor, statement, parameters, context)
            cursor.fetchall()
        execute(self, cursor, statement, parameters, context)

    Dialect.do_execute = twice
