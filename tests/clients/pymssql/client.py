"""pymssql against a running server: every type, parameters, transactions, errors, cancel.

Prints one line for each operation that fails; the last line is `N operations, N passed, N failed`.
"""

import datetime
import decimal
import os
import sys
import time
import uuid

import pymssql

HOST = os.environ["GHOSTLIGHT_HOST"]
PORT = os.environ["GHOSTLIGHT_PORT"]
USER = os.environ["GHOSTLIGHT_USER"]
PASSWORD = os.environ["GHOSTLIGHT_PASSWORD"]

D = decimal.Decimal

# column type, values that must come back as they went
TYPES = [
    ("bit", [True, False]),
    ("tinyint", [0, 255]),
    ("smallint", [-32768, 32767]),
    ("int", [-2147483648, 2147483647]),
    ("bigint", [-9223372036854775808, 9223372036854775807]),
    ("decimal(38,10)", [D("1234567890123456789012345678.0123456789"), D("-0.0000000001")]),
    ("numeric(9,2)", [D("9999999.99"), D("-0.01")]),
    ("money", [D("922337203685477.5807"), D("-922337203685477.5808")]),
    ("smallmoney", [D("214748.3647"), D("-214748.3648")]),
    ("real", [1.5, -0.25]),
    ("float", [1.7976931348623157e308, -2.2250738585072014e-308]),
    ("date", [datetime.date(1, 1, 1), datetime.date(9999, 12, 31)]),
    ("time(7)", [datetime.time(0, 0, 0), datetime.time(23, 59, 59, 999999)]),
    ("datetime", [datetime.datetime(1753, 1, 1), datetime.datetime(2024, 2, 29, 12, 34, 56, 790000)]),
    ("smalldatetime", [datetime.datetime(1900, 1, 1), datetime.datetime(2079, 6, 6, 23, 59)]),
    # The driver writes milliseconds into its literals.
    ("datetime2(7)", [datetime.datetime(1, 1, 1), datetime.datetime(9999, 12, 31, 23, 59, 59, 999000)]),
    ("char(5)", ["abc  ", "üöäß€"]),
    ("varchar(20)", ["", "it's Grün €"]),
    ("varchar(max)", ["x" * 20000, "y"]),
    ("nchar(4)", ["ab  ", "Ωж漢字"]),
    ("nvarchar(20)", ["", "'Ωж漢字😀"]),
    ("nvarchar(max)", ["漢" * 20000, "z"]),
    ("binary(4)", [b"\x00\x01\xfe\xff", b"abcd"]),
    ("varbinary(20)", [b"", bytes(range(20))]),
    ("varbinary(max)", [bytes(range(256)) * 100, b"q"]),
    ("uniqueidentifier", [uuid.UUID("00112233-4455-6677-8899-aabbccddeeff"), uuid.UUID(int=0)]),
]
OFFSET = datetime.timezone(datetime.timedelta(hours=5, minutes=30))


class Tally:
    """Counts operations and what became of them."""

    def __init__(self):
        self.passed = 0
        self.failed = 0

    def run(self, name, operation):
        try:
            operation()
            self.passed += 1
        except Exception as e:  # whatever goes wrong is this operation's failure
            self.failed += 1
            print(f"FAILED {name}: {type(e).__name__}: {str(e)[:300]}")

    def close(self):
        print(f"{self.passed + self.failed} operations, {self.passed} passed, {self.failed} failed")
        sys.exit(1 if self.failed or not self.passed else 0)


def same(found, wanted):
    if type(found) is not type(wanted) or found != wanted:
        raise AssertionError(f"{str(found)[:100]!r} ({type(found).__name__}) is not {str(wanted)[:100]!r}")


def connect(password=PASSWORD, autocommit=True, **more):
    return pymssql.connect(server=HOST, port=PORT, user=USER, password=password, tds_version="7.4",
                           database="master", autocommit=autocommit, login_timeout=20, **more)


def fails_with(number, severity, operation):
    try:
        operation()
    except pymssql.Error as e:
        # A failed login carries (number, text) as one argument.
        same(e.args[0][0] if isinstance(e.args[0], tuple) else e.args[0], number)
        if severity is not None:
            same(getattr(e, "severity", severity), severity)
        return
    raise AssertionError(f"no error {number}")


def query(connection, text, parameters=None):
    with connection.cursor() as cursor:
        cursor.execute(text, parameters)
        return cursor.fetchall()


def execute(connection, text, parameters=None):
    with connection.cursor() as cursor:
        cursor.execute(text, parameters)
        return cursor.rowcount


def every_type(tally, connection):
    for i, (sql_type, values) in enumerate(TYPES):
        table = f"dbo.pymssql_type_{i}"

        def make(table=table, sql_type=sql_type):
            execute(connection, f"DROP TABLE IF EXISTS {table}")
            execute(connection, f"CREATE TABLE {table} (id int NOT NULL PRIMARY KEY, v {sql_type} NULL)")

        tally.run(f"create {sql_type}", make)
        for id, value in enumerate([*values, None]):

            def write(id=id, value=value, table=table):
                # bytes of ASCII would be written as text, which no binary column takes (257).
                sent = bytearray(value) if isinstance(value, bytes) else value
                same(execute(connection, f"INSERT INTO {table} (id, v) VALUES (%s, %s)", (id, sent)), 1)

            def read(id=id, value=value, table=table):
                rows = query(connection, f"SELECT v FROM {table} WHERE id = %d", (id,))
                same(len(rows), 1)
                same(rows[0][0], value)

            tally.run(f"write {sql_type} {id}", write)
            tally.run(f"read {sql_type} {id}", read)

        def extent(table=table, values=values):
            same(query(connection, f"SELECT COUNT(*) FROM {table}"), [(len(values) + 1,)])
            same(query(connection, f"SELECT COUNT(*) FROM {table} WHERE v IS NULL"), [(1,)])
            execute(connection, f"DROP TABLE {table}")

        tally.run(f"count {sql_type}", extent)


def fine_moments(tally, connection):
    def fraction():
        text = "SELECT CAST('9999-12-31 23:59:59.9999990' AS datetime2(7))"
        same(query(connection, text), [(datetime.datetime(9999, 12, 31, 23, 59, 59, 999999),)])

    tally.run("read datetime2 with microseconds", fraction)

    def read():
        text = "SELECT CAST('2024-02-29 12:34:56.1234560 +05:30' AS datetimeoffset(7))"
        moment = datetime.datetime(2024, 2, 29, 12, 34, 56, 123456, OFFSET)
        same(query(connection, text), [(moment,)])

    def write():
        execute(connection, "DROP TABLE IF EXISTS dbo.pymssql_offset")
        execute(connection, "CREATE TABLE dbo.pymssql_offset (v datetimeoffset(3) NULL)")
        execute(connection, "INSERT INTO dbo.pymssql_offset (v) VALUES (%s)", ("2024-02-29 00:00:00.125 -08:00",))
        zone = datetime.timezone(datetime.timedelta(hours=-8))
        same(query(connection, "SELECT v FROM dbo.pymssql_offset"),
             [(datetime.datetime(2024, 2, 29, 0, 0, 0, 125000, zone),)])
        execute(connection, "DROP TABLE dbo.pymssql_offset")

    tally.run("read datetimeoffset", read)
    tally.run("write datetimeoffset", write)


def transactions(tally, watcher):
    connection = connect(autocommit=False)
    count = "SELECT COUNT(*) FROM dbo.pymssql_account"

    def prepare():
        execute(watcher, "DROP TABLE IF EXISTS dbo.pymssql_account")
        execute(watcher, "CREATE TABLE dbo.pymssql_account (id int NOT NULL PRIMARY KEY, "
                         "amount int NOT NULL CONSTRAINT ck_pymssql_amount CHECK (amount >= 0))")

    def roll_back():
        execute(connection, "INSERT INTO dbo.pymssql_account (id, amount) VALUES (1, 10)")
        same(query(connection, "SELECT @@TRANCOUNT"), [(1,)])
        same(query(connection, count), [(1,)])
        connection.rollback()
        same(query(connection, count), [(0,)])
        connection.rollback()

    def commit():
        execute(connection, "INSERT INTO dbo.pymssql_account (id, amount) VALUES (1, 10)")
        connection.commit()
        same(query(watcher, count), [(1,)])

    def savepoint():
        execute(connection, "INSERT INTO dbo.pymssql_account (id, amount) VALUES (2, 20)")
        execute(connection, "SAVE TRANSACTION middle")
        execute(connection, "INSERT INTO dbo.pymssql_account (id, amount) VALUES (3, 30)")
        same(query(connection, count), [(3,)])
        execute(connection, "ROLLBACK TRANSACTION middle")
        same(query(connection, count), [(2,)])
        connection.commit()
        same(query(watcher, "SELECT id, amount FROM dbo.pymssql_account ORDER BY id"), [(1, 10), (2, 20)])

    def counts():
        same(execute(watcher, "UPDATE dbo.pymssql_account SET amount = amount + 1"), 2)
        same(execute(watcher, "DELETE FROM dbo.pymssql_account WHERE id = 2"), 1)
        same(execute(watcher, "UPDATE dbo.pymssql_account SET amount = 0 WHERE id = 77"), 0)

    for name, operation in [("prepare", prepare), ("rollback", roll_back), ("commit", commit),
                            ("savepoint", savepoint), ("update counts", counts)]:
        tally.run(name, operation)
    connection.close()


ERRORS = [
    (102, 15, "SELECT * FORM"),
    (137, 15, "SELECT @undeclared"),
    (207, 16, "SELECT nothing FROM dbo.pymssql_account"),
    (208, 16, "SELECT * FROM dbo.missing"),
    (245, 16, "SELECT CAST('abc' AS int)"),
    (515, 16, "INSERT INTO dbo.pymssql_account (id, amount) VALUES (9, NULL)"),
    (547, 16, "INSERT INTO dbo.pymssql_account (id, amount) VALUES (9, -1)"),
    (2627, 14, "INSERT INTO dbo.pymssql_account (id, amount) VALUES (1, 1)"),
    (2714, 16, "CREATE TABLE dbo.pymssql_account (id int)"),
    (3701, 11, "DROP TABLE dbo.missing"),
    (8115, 16, "SELECT 2147483647 + 1"),
    (8134, 16, "SELECT 1 / 0"),
    (50000, 16, "RAISERROR('mine', 16, 3)"),
    (51234, 16, "THROW 51234, 'thrown', 2"),
]


def errors(tally, connection):
    for number, severity, text in ERRORS:
        tally.run(f"error {number}", lambda n=number, s=severity, t=text: fails_with(n, s, lambda: execute(connection, t)))
    tally.run("goes on after errors", lambda: same(query(connection, "SELECT 1"), [(1,)]))
    tally.run("error 18456", lambda: fails_with(18456, None, lambda: connect(password="wrong")))


def several_results(tally, connection):
    def sets():
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 AS a; SELECT N'two' AS b, 2 AS c; SELECT 3")
            same(cursor.fetchall(), [(1,)])
            same(bool(cursor.nextset()), True)
            same([c[0] for c in cursor.description], ["b", "c"])
            same(cursor.fetchall(), [("two", 2)])
            same(bool(cursor.nextset()), True)
            same(cursor.fetchall(), [(3,)])
            same(bool(cursor.nextset()), False)

    def unread():
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1; SELECT 2")
        same(query(connection, "SELECT 4"), [(4,)])

    def procedure():
        execute(connection, "DROP PROCEDURE IF EXISTS dbo.pymssql_add")
        execute(connection, "CREATE PROCEDURE dbo.pymssql_add @a int, @b int OUTPUT AS SET @b = @a + 1")
        with connection.cursor() as cursor:
            same(tuple(cursor.callproc("dbo.pymssql_add", (41, pymssql.output(int)))), (41, 42))
        execute(connection, "DROP PROCEDURE dbo.pymssql_add")

    tally.run("several result sets", sets)
    tally.run("a result set left unread", unread)
    tally.run("a procedure with an output parameter", procedure)


def many_rows(tally, connection):
    def run():
        execute(connection, "DROP TABLE IF EXISTS dbo.pymssql_many")
        execute(connection, "CREATE TABLE dbo.pymssql_many (id int NOT NULL PRIMARY KEY, t nvarchar(100) NOT NULL)")
        with connection.cursor() as cursor:
            cursor.executemany("INSERT INTO dbo.pymssql_many (id, t) VALUES (%d, %s)",
                               [(i, f"row {i} " + "é" * 60) for i in range(300)])
        rows = query(connection, "SELECT id, t FROM dbo.pymssql_many ORDER BY id")
        same(rows, [(i, f"row {i} " + "é" * 60) for i in range(300)])
        execute(connection, "DROP TABLE dbo.pymssql_many")

    tally.run("many rows in many packets", run)


def bulk_copy(tally, connection):
    def run():
        execute(connection, "DROP TABLE IF EXISTS dbo.pymssql_bulk")
        execute(connection, "CREATE TABLE dbo.pymssql_bulk (id int NOT NULL PRIMARY KEY, v varchar(100) NULL, n int NULL)")
        rows = [(i, f"row {i}", None if i % 3 == 0 else i) for i in range(2000)]
        connection.bulk_copy("dbo.pymssql_bulk", rows, batch_size=700)
        connection.commit()
        same(query(connection, "SELECT id, v, n FROM dbo.pymssql_bulk ORDER BY id"), rows)
        execute(connection, "DROP TABLE dbo.pymssql_bulk")

    tally.run("bulk copy", run)


def time_out(tally):
    def run():
        connection = connect(timeout=1)
        began = time.monotonic()
        try:
            execute(connection, "WAITFOR DELAY '00:00:20'")
        except pymssql.Error:
            took = time.monotonic() - began
            if not 0.5 < took < 10:
                raise AssertionError(f"timed out after {took} s")
            return
        raise AssertionError("no timeout")

    def waits():
        connection = connect()
        began = time.monotonic()
        execute(connection, "WAITFOR DELAY '00:00:01'")
        if time.monotonic() - began < 0.9:
            raise AssertionError("did not wait")
        connection.close()

    # The driver's timeout, once set, is that of every connection of the process.
    tally.run("waits as long as told", waits)
    tally.run("query timeout", run)


def main():
    tally = Tally()
    connection = connect()
    tally.run("select", lambda: same(query(connection, "SELECT 1"), [(1,)]))
    every_type(tally, connection)
    fine_moments(tally, connection)
    transactions(tally, connection)
    errors(tally, connection)
    several_results(tally, connection)
    many_rows(tally, connection)
    bulk_copy(tally, connection)
    time_out(tally)
    execute(connection, "DROP TABLE IF EXISTS dbo.pymssql_account")
    connection.close()
    tally.close()


main()
