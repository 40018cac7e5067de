"""python-tds against a running server: every type, parameters, transactions, errors, cancel.

Prints a line for each operation that fails; the last line is `N operations, N passed, N failed`.
"""

import datetime
import decimal
import os
import sys
import time
import uuid

import pytds

HOST = os.environ["GHOSTLIGHT_HOST"]
PORT = int(os.environ["GHOSTLIGHT_PORT"])
USER = os.environ["GHOSTLIGHT_USER"]
PASSWORD = os.environ["GHOSTLIGHT_PASSWORD"]

D = decimal.Decimal
day, clock, moment = datetime.date, datetime.time, datetime.datetime


def zone(hours, minutes=0):
    return pytds.tz.FixedOffsetTimezone(hours * 60 + minutes)


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
    ("date", [day(1, 1, 1), day(9999, 12, 31)]),
    ("time(7)", [clock(0, 0, 0), clock(23, 59, 59, 999999)]),
    ("datetime", [moment(1753, 1, 1), moment(2024, 2, 29, 12, 34, 56, 790000)]),
    ("smalldatetime", [moment(1900, 1, 1), moment(2079, 6, 6, 23, 59)]),
    ("datetime2(7)", [moment(1, 1, 1), moment(9999, 12, 31, 23, 59, 59, 999999)]),
    ("datetime2(3)", [moment(2024, 2, 29, 12, 34, 56, 789000)]),
    ("datetimeoffset(7)", [moment(2024, 2, 29, 12, 34, 56, 123456, zone(5, 30)), moment(1, 1, 2, 0, 0, 0, 0, zone(-8))]),
    ("char(5)", ["abc  ", "x'y  "]),
    ("varchar(20)", ["", "it's Grün €"]),
    ("varchar(max)", ["x" * 200000, "y"]),
    ("nchar(4)", ["ab  ", "Ωж漢字"]),
    ("nvarchar(20)", ["", "'Ωж漢字😀"]),
    ("nvarchar(max)", ["漢" * 100000, "z"]),
    ("binary(4)", [b"\x00\x01\xfe\xff", b"abcd"]),
    ("varbinary(20)", [b"", bytes(range(20))]),
    ("varbinary(max)", [bytes(range(256)) * 1000, b"q"]),
    ("uniqueidentifier", [uuid.UUID("00112233-4455-6677-8899-aabbccddeeff"), uuid.UUID(int=0)]),
]


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


def same_moment(found, wanted):
    same(found, wanted)
    if isinstance(wanted, moment) and wanted.tzinfo is not None:
        same(found.utcoffset(), wanted.utcoffset())


def connect(password=PASSWORD, database="master", autocommit=True, **more):
    return pytds.connect(dsn=HOST, port=PORT, user=USER, password=password, database=database,
                         autocommit=autocommit, login_timeout=20, **more)


def fails_with(number, severity, operation):
    try:
        operation()
    except pytds.Error as e:
        same(getattr(e, "number", None), number)
        if severity is not None:
            same(e.severity, severity)
        return e
    raise AssertionError(f"no error {number}")


def query(connection, text, parameters=()):
    with connection.cursor() as cursor:
        cursor.execute(text, parameters)
        return cursor.fetchall()


def execute(connection, text, parameters=()):
    with connection.cursor() as cursor:
        cursor.execute(text, parameters)
        return cursor.rowcount


def every_type(tally, connection):
    for i, (sql_type, values) in enumerate(TYPES):
        table = f"dbo.pytds_type_{i}"

        def make(table=table, sql_type=sql_type):
            execute(connection, f"DROP TABLE IF EXISTS {table}")
            execute(connection, f"CREATE TABLE {table} (id int NOT NULL PRIMARY KEY, v {sql_type} NULL)")

        tally.run(f"create {sql_type}", make)
        for id, value in enumerate([*values, None]):

            def write(id=id, value=value, table=table, sql_type=sql_type):
                # NULL has no type here, which binary columns do not take.
                given = "CAST(NULL AS varbinary(1))" if value is None and "binary" in sql_type else "%s"
                bound = pytds.Binary(value) if isinstance(value, bytes) else value
                given_values = (id,) if given != "%s" else (id, bound)
                same(execute(connection, f"INSERT INTO {table} (id, v) VALUES (%s, {given})", given_values), 1)

            def read(id=id, value=value, table=table):
                rows = query(connection, f"SELECT v FROM {table} WHERE id = %s", (id,))
                same(len(rows), 1)
                same_moment(rows[0][0], value)

            tally.run(f"write {sql_type} {id}", write)
            tally.run(f"read {sql_type} {id}", read)

        def extent(table=table, values=values):
            same(query(connection, f"SELECT COUNT(*) FROM {table}"), [(len(values) + 1,)])
            same(query(connection, f"SELECT COUNT(*) FROM {table} WHERE v IS NULL"), [(1,)])
            execute(connection, f"DROP TABLE {table}")

        tally.run(f"count {sql_type}", extent)


def transactions(tally, watcher):
    connection = connect(autocommit=False)
    count = "SELECT COUNT(*) FROM dbo.pytds_account"

    def prepare():
        execute(watcher, "DROP TABLE IF EXISTS dbo.pytds_account")
        execute(watcher, "CREATE TABLE dbo.pytds_account (id int NOT NULL PRIMARY KEY, "
                         "amount int NOT NULL CONSTRAINT ck_pytds_amount CHECK (amount >= 0))")

    def roll_back():
        execute(connection, "INSERT INTO dbo.pytds_account (id, amount) VALUES (%s, %s)", (1, 10))
        same(query(connection, "SELECT @@TRANCOUNT"), [(1,)])
        same(query(connection, count), [(1,)])
        connection.rollback()
        same(query(connection, count), [(0,)])
        connection.rollback()

    def commit():
        execute(connection, "INSERT INTO dbo.pytds_account (id, amount) VALUES (1, 10)")
        connection.commit()
        same(query(watcher, count), [(1,)])

    def savepoint():
        execute(connection, "INSERT INTO dbo.pytds_account (id, amount) VALUES (2, 20)")
        execute(connection, "SAVE TRANSACTION middle")
        execute(connection, "INSERT INTO dbo.pytds_account (id, amount) VALUES (3, 30)")
        same(query(connection, count), [(3,)])
        execute(connection, "ROLLBACK TRANSACTION middle")
        same(query(connection, count), [(2,)])
        connection.commit()
        same(query(watcher, "SELECT id, amount FROM dbo.pytds_account ORDER BY id"), [(1, 10), (2, 20)])

    def counts():
        same(execute(watcher, "UPDATE dbo.pytds_account SET amount = amount + 1"), 2)
        same(execute(watcher, "DELETE FROM dbo.pytds_account WHERE id = 2"), 1)
        same(execute(watcher, "UPDATE dbo.pytds_account SET amount = 0 WHERE id = 77"), 0)

    for name, operation in [("prepare", prepare), ("rollback", roll_back), ("commit", commit),
                            ("savepoint", savepoint), ("update counts", counts)]:
        tally.run(name, operation)
    connection.close()


ERRORS = [
    (102, 15, "SELECT * FORM"),
    (137, 15, "SELECT @undeclared"),
    (207, 16, "SELECT nothing FROM dbo.pytds_account"),
    (208, 16, "SELECT * FROM dbo.missing"),
    (245, 16, "SELECT CAST('abc' AS int)"),
    (515, 16, "INSERT INTO dbo.pytds_account (id, amount) VALUES (9, NULL)"),
    (547, 16, "INSERT INTO dbo.pytds_account (id, amount) VALUES (9, -1)"),
    (2627, 14, "INSERT INTO dbo.pytds_account (id, amount) VALUES (1, 1)"),
    (2714, 16, "CREATE TABLE dbo.pytds_account (id int)"),
    (3701, 11, "DROP TABLE dbo.missing"),
    (8115, 16, "SELECT 2147483647 + 1"),
    (8134, 16, "SELECT 1 / 0"),
    (50000, 16, "RAISERROR('mine', 16, 3)"),
    (51234, 16, "THROW 51234, 'thrown', 2"),
]


def errors(tally, connection):
    for number, severity, text in ERRORS:
        tally.run(f"error {number}", lambda n=number, s=severity, t=text: fails_with(n, s, lambda: query(connection, t)))
    tally.run("goes on after errors", lambda: same(query(connection, "SELECT 1"), [(1,)]))

    def line():
        e = fails_with(208, 16, lambda: query(connection, "\n\nSELECT * FROM dbo.missing"))
        same(e.line, 3)

    tally.run("line of an error", line)
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
        execute(connection, "DROP PROCEDURE IF EXISTS dbo.pytds_add")
        execute(connection, "CREATE PROCEDURE dbo.pytds_add @a int, @b int OUTPUT AS SET @b = @a + 1")
        with connection.cursor() as cursor:
            same(list(cursor.callproc("dbo.pytds_add", (41, pytds.output(param_type=int)))), [41, 42])
            same(cursor.get_proc_return_status(), 0)
        execute(connection, "DROP PROCEDURE dbo.pytds_add")

    tally.run("several result sets", sets)
    tally.run("a result set left unread", unread)
    tally.run("a procedure with an output parameter", procedure)


def tables(tally, connection):
    rows = [(2, "zwölf"), (1, None)]

    def prepare():
        execute(connection, "DROP PROCEDURE IF EXISTS dbo.pytds_table; DROP TYPE IF EXISTS dbo.pytds_pairs")
        execute(connection, "CREATE TYPE dbo.pytds_pairs AS TABLE (id int NOT NULL PRIMARY KEY, name nvarchar(20))")
        execute(
            connection,
            "CREATE PROCEDURE dbo.pytds_table @p dbo.pytds_pairs READONLY, @n int AS SELECT id + @n, name FROM @p ORDER BY id",
        )

    def table(values):
        return pytds.TableValuedParam(type_name="dbo.pytds_pairs", rows=iter(values))

    def procedure():
        with connection.cursor() as cursor:
            cursor.callproc("dbo.pytds_table", (table(rows), 10))
            same(cursor.fetchall(), [(11, None), (12, "zwölf")])

    def batch():
        with connection.cursor() as cursor:
            cursor.execute("SELECT id, name FROM %s ORDER BY id DESC", (table(rows),))
            same(cursor.fetchall(), rows)

    def duplicate():
        with connection.cursor() as cursor:
            cursor.execute("SELECT COUNT(*) FROM %s", (table([rows[0], rows[0]]),))

    tally.run("table type and procedure", prepare)
    tally.run("table to a procedure", procedure)
    tally.run("table to a batch", batch)
    tally.run("error 2627 of a table", lambda: fails_with(2627, 14, duplicate))
    tally.run("drop the table type", lambda: execute(connection, "DROP PROCEDURE dbo.pytds_table; DROP TYPE dbo.pytds_pairs"))


def many_rows(tally, connection):
    def run():
        execute(connection, "DROP TABLE IF EXISTS dbo.pytds_many")
        execute(connection, "CREATE TABLE dbo.pytds_many (id int NOT NULL PRIMARY KEY, t nvarchar(100) NOT NULL)")
        with connection.cursor() as cursor:
            for i in range(300):
                cursor.execute("INSERT INTO dbo.pytds_many (id, t) VALUES (%s, %s)", (i, f"row {i} " + "é" * 60))
        rows = query(connection, "SELECT id, t FROM dbo.pytds_many ORDER BY id")
        same(rows, [(i, f"row {i} " + "é" * 60) for i in range(300)])
        execute(connection, "DROP TABLE dbo.pytds_many")

    tally.run("many rows in many packets", run)


def bulk_copy(tally, connection):
    def run():
        execute(connection, "DROP TABLE IF EXISTS dbo.pytds_bulk")
        execute(connection, "CREATE TABLE dbo.pytds_bulk (id int NOT NULL PRIMARY KEY, t nvarchar(100) NULL, "
                            "n int NULL CONSTRAINT pytds_bulk_n DEFAULT 5)")
        columns = [pytds.Column("id", type=pytds.tds_types.IntType()),
                   pytds.Column("t", type=pytds.tds_types.NVarCharType(size=100)),
                   pytds.Column("n", type=pytds.tds_types.IntType())]
        rows = [(i, f"row {i} " + "é" * 60, None if i % 3 == 0 else i) for i in range(2000)]
        with connection.cursor() as cursor:
            cursor.copy_to(data=rows, table_or_view="pytds_bulk", schema="dbo", columns=columns, tablock=True)
        found = query(connection, "SELECT id, t, n FROM dbo.pytds_bulk ORDER BY id")
        same(found, [(i, t, 5 if n is None else n) for i, t, n in rows])
        execute(connection, "TRUNCATE TABLE dbo.pytds_bulk")
        with connection.cursor() as cursor:
            cursor.copy_to(data=rows, table_or_view="pytds_bulk", schema="dbo", columns=columns, keep_nulls=True)
        same(query(connection, "SELECT id, t, n FROM dbo.pytds_bulk ORDER BY id"), rows)
        execute(connection, "DROP TABLE dbo.pytds_bulk")

    tally.run("bulk copy, NULL as the default and kept", run)


def time_out(tally):
    def run():
        connection = connect(timeout=1)
        began = time.monotonic()
        try:
            execute(connection, "WAITFOR DELAY '00:00:20'")
        except (pytds.Error, TimeoutError):
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

    tally.run("query timeout", run)
    tally.run("waits as long as told", waits)


def main():
    tally = Tally()
    connection = connect()
    tally.run("select", lambda: same(query(connection, "SELECT 1"), [(1,)]))
    every_type(tally, connection)
    transactions(tally, connection)
    errors(tally, connection)
    several_results(tally, connection)
    tables(tally, connection)
    many_rows(tally, connection)
    bulk_copy(tally, connection)
    time_out(tally)
    execute(connection, "DROP TABLE IF EXISTS dbo.pytds_account")
    connection.close()
    tally.close()


main()
