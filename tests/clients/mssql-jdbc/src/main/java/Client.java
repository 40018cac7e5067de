// mssql-jdbc against a running server: every type, parameters, prepared statements, transactions,
// errors, several result sets, output parameters, cancel; without encryption, with it, and strict.
//
// Prints a line for each operation that fails; the last line is
// `N operations, N passed, N failed`.

import com.microsoft.sqlserver.jdbc.SQLServerCallableStatement;
import com.microsoft.sqlserver.jdbc.SQLServerDataTable;
import com.microsoft.sqlserver.jdbc.SQLServerPreparedStatement;
import java.math.BigDecimal;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.sql.Types;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.util.Arrays;
import java.util.Properties;

public final class Client {
    interface Operation {
        void run() throws Exception;
    }

    private static int passed;
    private static int failed;

    static void run(String name, Operation operation) {
        try {
            operation.run();
            passed++;
        } catch (Exception | AssertionError e) {
            failed++;
            String text = e.getClass().getSimpleName() + ": " + e.getMessage();
            System.out.println("FAILED " + name + ": " + text.substring(0, Math.min(300, text.length())));
        }
    }

    static void same(Object found, Object wanted) {
        boolean equal = found instanceof byte[] f && wanted instanceof byte[] w
                ? Arrays.equals(f, w)
                : (found == null ? wanted == null : found.equals(wanted));
        if (!equal) {
            throw new AssertionError(shown(found) + " is not " + shown(wanted));
        }
    }

    private static String shown(Object value) {
        String text = value instanceof byte[] b ? Arrays.toString(Arrays.copyOf(b, Math.min(8, b.length))) : String.valueOf(value);
        return text.substring(0, Math.min(90, text.length())) + (value == null ? "" : " (" + value.getClass().getSimpleName() + ")");
    }

    static Connection connect(String encrypt, String... more) throws SQLException {
        Properties p = new Properties();
        p.setProperty("user", System.getenv("GHOSTLIGHT_USER"));
        p.setProperty("password", System.getenv("GHOSTLIGHT_PASSWORD"));
        p.setProperty("databaseName", "master");
        p.setProperty("encrypt", encrypt);
        p.setProperty("trustServerCertificate", "true");
        p.setProperty("loginTimeout", "20");
        p.setProperty("connectRetryCount", "0");
        p.setProperty("sendTimeAsDatetime", "false");
        for (int i = 0; i < more.length; i += 2) {
            p.setProperty(more[i], more[i + 1]);
        }
        return DriverManager.getConnection("jdbc:sqlserver://" + System.getenv("GHOSTLIGHT_HOST") + ":"
                + System.getenv("GHOSTLIGHT_PORT"), p);
    }

    private record Column(String sqlType, int jdbcType, Class<?> kind, Object... values) {}

    private static byte[] many(int n) {
        byte[] bytes = new byte[n];
        for (int i = 0; i < n; i++) {
            bytes[i] = (byte) (i * 7);
        }
        return bytes;
    }

    private static BigDecimal decimal(String text) {
        return new BigDecimal(text);
    }

    private static final Column[] COLUMNS = {
        new Column("bit", Types.BIT, Boolean.class, true, false),
        new Column("tinyint", Types.TINYINT, Short.class, (short) 0, (short) 255),
        new Column("smallint", Types.SMALLINT, Short.class, Short.MIN_VALUE, Short.MAX_VALUE),
        new Column("int", Types.INTEGER, Integer.class, Integer.MIN_VALUE, Integer.MAX_VALUE),
        new Column("bigint", Types.BIGINT, Long.class, Long.MIN_VALUE, Long.MAX_VALUE),
        new Column("decimal(38,10)", Types.DECIMAL, BigDecimal.class,
                decimal("1234567890123456789012345678.0123456789"), decimal("-0.0000000001")),
        new Column("numeric(9,2)", Types.NUMERIC, BigDecimal.class, decimal("9999999.99"), decimal("-0.01")),
        new Column("money", microsoft.sql.Types.MONEY, BigDecimal.class,
                decimal("922337203685477.5807"), decimal("-922337203685477.5808")),
        new Column("smallmoney", microsoft.sql.Types.SMALLMONEY, BigDecimal.class,
                decimal("214748.3647"), decimal("-214748.3648")),
        new Column("real", Types.REAL, Float.class, 1.5f, -0.25f),
        new Column("float", Types.DOUBLE, Double.class, Double.MAX_VALUE, -2.2250738585072014e-308),
        new Column("date", Types.DATE, LocalDate.class, LocalDate.of(1, 1, 1), LocalDate.of(9999, 12, 31)),
        new Column("time(7)", Types.TIME, LocalTime.class, LocalTime.MIDNIGHT, LocalTime.of(23, 59, 59, 999_999_900)),
        new Column("datetime", Types.TIMESTAMP, LocalDateTime.class,
                LocalDateTime.of(1753, 1, 1, 0, 0), LocalDateTime.of(2024, 2, 29, 12, 34, 56, 790_000_000)),
        new Column("smalldatetime", Types.TIMESTAMP, LocalDateTime.class,
                LocalDateTime.of(1900, 1, 1, 0, 0), LocalDateTime.of(2079, 6, 6, 23, 59)),
        new Column("datetime2(7)", Types.TIMESTAMP, LocalDateTime.class,
                LocalDateTime.of(1, 1, 1, 0, 0), LocalDateTime.of(9999, 12, 31, 23, 59, 59, 999_999_900)),
        new Column("datetimeoffset(7)", Types.TIMESTAMP_WITH_TIMEZONE, OffsetDateTime.class,
                OffsetDateTime.parse("2024-02-29T12:34:56.1234567+05:30"), OffsetDateTime.parse("1600-01-02T00:00:00-08:00")),
        new Column("char(5)", Types.CHAR, String.class, "abc  ", "x'y  "),
        new Column("varchar(20)", Types.VARCHAR, String.class, "", "Grün €"),
        new Column("varchar(max)", Types.LONGVARCHAR, String.class, "x".repeat(200_000), "y"),
        new Column("nchar(4)", Types.NCHAR, String.class, "ab  ", "Ωж漢字"),
        new Column("nvarchar(20)", Types.NVARCHAR, String.class, "", "'Ωж漢字😀"),
        new Column("nvarchar(max)", Types.LONGNVARCHAR, String.class, "漢".repeat(100_000), "z"),
        new Column("binary(4)", Types.BINARY, byte[].class, new byte[] {0, 1, -2, -1}, new byte[] {1, 2, 3, 4}),
        new Column("varbinary(20)", Types.VARBINARY, byte[].class, new byte[0], many(20)),
        new Column("varbinary(max)", Types.LONGVARBINARY, byte[].class, many(200_000), many(1)),
        new Column("text", Types.LONGVARCHAR, String.class, "x".repeat(20_000), ""),
        new Column("ntext", Types.LONGNVARCHAR, String.class, "漢".repeat(10_000), ""),
        new Column("image", Types.LONGVARBINARY, byte[].class, many(20_000), new byte[0]),
        new Column("uniqueidentifier", microsoft.sql.Types.GUID, String.class,
                "00112233-4455-6677-8899-AABBCCDDEEFF", "00000000-0000-0000-0000-000000000000"),
    };

    static void execute(Connection c, String text) throws SQLException {
        try (Statement s = c.createStatement()) {
            s.execute(text);
        }
    }

    private static int update(Connection c, String text) throws SQLException {
        try (Statement s = c.createStatement()) {
            return s.executeUpdate(text);
        }
    }

    static int number(Connection c, String text) throws SQLException {
        try (Statement s = c.createStatement(); ResultSet r = s.executeQuery(text)) {
            same(r.next(), true);
            int n = r.getInt(1);
            same(r.next(), false);
            return n;
        }
    }

    private static Object read(ResultSet r, Class<?> kind) throws SQLException {
        if (kind == byte[].class) {
            return r.getBytes(1);
        }
        if (kind == Short.class) {
            short n = r.getShort(1);
            return r.wasNull() ? null : n;
        }
        return kind == String.class ? r.getString(1) : r.getObject(1, kind);
    }

    private static void everyType(Connection c, String suffix) {
        for (int i = 0; i < COLUMNS.length; i++) {
            Column column = COLUMNS[i];
            String table = "dbo.jdbc_type_" + suffix + "_" + i;
            run("create " + column.sqlType, () -> {
                execute(c, "DROP TABLE IF EXISTS " + table);
                execute(c, "CREATE TABLE " + table + " (id int NOT NULL PRIMARY KEY, v " + column.sqlType + " NULL)");
            });
            for (int id = 0; id <= column.values.length; id++) {
                int key = id;
                Object value = id < column.values.length ? column.values[id] : null;
                run("write " + column.sqlType + " " + key, () -> {
                    try (PreparedStatement s = c.prepareStatement("INSERT INTO " + table + " (id, v) VALUES (?, ?)")) {
                        s.setInt(1, key);
                        s.setObject(2, value, column.jdbcType);
                        same(s.executeUpdate(), 1);
                    }
                });
                run("read " + column.sqlType + " " + key, () -> {
                    try (PreparedStatement s = c.prepareStatement("SELECT v FROM " + table + " WHERE id = ?")) {
                        s.setInt(1, key);
                        try (ResultSet r = s.executeQuery()) {
                            same(r.next(), true);
                            same(read(r, column.kind), value);
                            same(r.next(), false);
                        }
                    }
                });
            }
            run("count " + column.sqlType, () -> {
                same(number(c, "SELECT COUNT(*) FROM " + table), column.values.length + 1);
                same(number(c, "SELECT COUNT(*) FROM " + table + " WHERE v IS NULL"), 1);
                execute(c, "DROP TABLE " + table);
            });
        }
    }

    private static void transactions(Connection c, Connection watcher) {
        String count = "SELECT COUNT(*) FROM dbo.jdbc_account";
        run("prepare", () -> {
            execute(watcher, "DROP TABLE IF EXISTS dbo.jdbc_account");
            execute(watcher, "CREATE TABLE dbo.jdbc_account (id int NOT NULL PRIMARY KEY, "
                    + "amount int NOT NULL CONSTRAINT ck_jdbc_amount CHECK (amount >= 0))");
            c.setAutoCommit(false);
        });
        run("rollback", () -> {
            same(update(c, "INSERT INTO dbo.jdbc_account (id, amount) VALUES (1, 10)"), 1);
            same(number(c, "SELECT @@TRANCOUNT"), 1);
            same(number(c, count), 1);
            c.rollback();
            same(number(c, count), 0);
            c.rollback();
        });
        run("commit", () -> {
            c.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
            update(c, "INSERT INTO dbo.jdbc_account (id, amount) VALUES (1, 10)");
            c.commit();
            same(number(watcher, count), 1);
        });
        run("savepoint", () -> {
            update(c, "INSERT INTO dbo.jdbc_account (id, amount) VALUES (2, 20)");
            Savepoint middle = c.setSavepoint("middle");
            update(c, "INSERT INTO dbo.jdbc_account (id, amount) VALUES (3, 30)");
            same(number(c, count), 3);
            c.rollback(middle);
            same(number(c, count), 2);
            c.commit();
            same(number(watcher, count), 2);
        });
        run("update counts", () -> {
            c.setAutoCommit(true);
            same(update(c, "UPDATE dbo.jdbc_account SET amount = amount + 1"), 2);
            same(update(c, "DELETE FROM dbo.jdbc_account WHERE id = 2"), 1);
            same(update(c, "UPDATE dbo.jdbc_account SET amount = 0 WHERE id = 77"), 0);
        });
    }

    private static void failsWith(int number, Operation operation) throws Exception {
        try {
            operation.run();
        } catch (SQLException e) {
            same(e.getErrorCode(), number);
            return;
        }
        throw new AssertionError("no error " + number);
    }

    private static void errors(Connection c) {
        Object[][] cases = {
            {102, "SELECT * FORM"},
            {137, "SELECT @undeclared"},
            {207, "SELECT nothing FROM dbo.jdbc_account"},
            {208, "SELECT * FROM dbo.missing"},
            {245, "SELECT CAST('abc' AS int)"},
            {515, "INSERT INTO dbo.jdbc_account (id, amount) VALUES (9, NULL)"},
            {547, "INSERT INTO dbo.jdbc_account (id, amount) VALUES (9, -1)"},
            {2627, "INSERT INTO dbo.jdbc_account (id, amount) VALUES (1, 1)"},
            {2714, "CREATE TABLE dbo.jdbc_account (id int)"},
            {3701, "DROP TABLE dbo.missing"},
            {8115, "SELECT 2147483647 + 1"},
            {8134, "SELECT 1 / 0"},
            {50000, "RAISERROR('mine', 16, 3)"},
            {51234, "THROW 51234, 'thrown', 2"},
        };
        for (Object[] one : cases) {
            run("error " + one[0], () -> failsWith((Integer) one[0], () -> {
                try (Statement s = c.createStatement()) {
                    if (s.execute((String) one[1])) {
                        try (ResultSet r = s.getResultSet()) {
                            while (r.next()) {
                                r.getObject(1);
                            }
                        }
                    }
                }
            }));
        }
        run("goes on after errors", () -> same(number(c, "SELECT 1"), 1));
        run("error 18456", () -> failsWith(18456, () -> connect("true", "password", "wrong").close()));
        run("error 4060", () -> failsWith(4060, () -> connect("true", "databaseName", "missing").close()));
    }

    private static void severalResults(Connection c) {
        run("several result sets", () -> {
            try (Statement s = c.createStatement()) {
                same(s.execute("SELECT 1 AS a; SELECT N'two' AS b, 2 AS c; SELECT 3"), true);
                ResultSet r = s.getResultSet();
                same(r.next(), true);
                same(r.getInt("a"), 1);
                same(s.getMoreResults(), true);
                r = s.getResultSet();
                same(r.next(), true);
                same(r.getString("b"), "two");
                same(r.getInt("c"), 2);
                same(s.getMoreResults(), true);
                r = s.getResultSet();
                same(r.next(), true);
                same(r.getInt(1), 3);
                same(s.getMoreResults(), false);
                same(s.getUpdateCount(), -1);
            }
        });
        run("prepared statement", () -> {
            try (PreparedStatement s = c.prepareStatement("SELECT ? + 1, ?")) {
                for (int i = 0; i < 50; i++) {
                    s.setInt(1, i);
                    s.setString(2, "n" + i);
                    try (ResultSet r = s.executeQuery()) {
                        same(r.next(), true);
                        same(r.getInt(1), i + 1);
                        same(r.getString(2), "n" + i);
                    }
                }
            }
        });
        run("procedure with an output parameter", () -> {
            execute(c, "DROP PROCEDURE IF EXISTS dbo.jdbc_add");
            execute(c, "CREATE PROCEDURE dbo.jdbc_add @a int, @b int OUTPUT AS SET @b = @a + 1");
            try (CallableStatement s = c.prepareCall("{? = call dbo.jdbc_add(?, ?)}")) {
                s.registerOutParameter(1, Types.INTEGER);
                s.setInt(2, 41);
                s.registerOutParameter(3, Types.INTEGER);
                s.execute();
                same(s.getInt(3), 42);
                same(s.getInt(1), 0);
            }
            execute(c, "DROP PROCEDURE dbo.jdbc_add");
        });
    }

    private static SQLServerDataTable pairs(Object[]... rows) throws Exception {
        SQLServerDataTable table = new SQLServerDataTable();
        table.addColumnMetadata("id", Types.INTEGER);
        table.addColumnMetadata("name", Types.NVARCHAR);
        for (Object[] row : rows) {
            table.addRow(row);
        }
        return table;
    }

    private static void tables(Connection c) {
        Object[][] rows = {{2, "zwölf"}, {1, null}};
        run("table type and procedure", () -> {
            execute(c, "DROP PROCEDURE IF EXISTS dbo.jdbc_table; DROP TYPE IF EXISTS dbo.jdbc_pairs");
            execute(c, "CREATE TYPE dbo.jdbc_pairs AS TABLE (id int NOT NULL PRIMARY KEY, name nvarchar(20))");
            execute(c, "CREATE PROCEDURE dbo.jdbc_table @p dbo.jdbc_pairs READONLY, @n int AS"
                    + " SELECT id + @n, name FROM @p ORDER BY id");
        });
        for (String text : new String[] {
            "{call dbo.jdbc_table(?, ?)}", "DECLARE @n int; EXEC dbo.jdbc_table ?, ?"
        }) {
            run("table to " + text, () -> {
                try (SQLServerCallableStatement s = (SQLServerCallableStatement) c.prepareCall(text)) {
                    s.setStructured(1, "dbo.jdbc_pairs", pairs(rows));
                    s.setInt(2, 10);
                    try (ResultSet r = s.executeQuery()) {
                        same(r.next(), true);
                        same(r.getInt(1), 11);
                        same(r.getString(2), null);
                        same(r.next(), true);
                        same(r.getInt(1), 12);
                        same(r.getString(2), "zwölf");
                        same(r.next(), false);
                    }
                }
            });
        }
        run("empty table", () -> {
            try (SQLServerPreparedStatement s = (SQLServerPreparedStatement)
                    c.prepareStatement("SELECT COUNT(*) FROM ?")) {
                s.setStructured(1, "dbo.jdbc_pairs", pairs());
                try (ResultSet r = s.executeQuery()) {
                    same(r.next(), true);
                    same(r.getInt(1), 0);
                }
            }
        });
        run("error 2627 of a table", () -> failsWith(2627, () -> {
            try (SQLServerPreparedStatement s = (SQLServerPreparedStatement)
                    c.prepareStatement("SELECT COUNT(*) FROM ?")) {
                s.setStructured(1, "dbo.jdbc_pairs", pairs(rows[0], rows[0]));
                s.executeQuery();
            }
        }));
        run("drop the table type", () ->
                execute(c, "DROP PROCEDURE dbo.jdbc_table; DROP TYPE dbo.jdbc_pairs"));
    }

    private static void manyRows(Connection c) {
        run("many rows in many packets", () -> {
            execute(c, "DROP TABLE IF EXISTS dbo.jdbc_many");
            execute(c, "CREATE TABLE dbo.jdbc_many (id int NOT NULL PRIMARY KEY, t nvarchar(100) NOT NULL)");
            try (PreparedStatement s = c.prepareStatement("INSERT INTO dbo.jdbc_many (id, t) VALUES (?, ?)")) {
                for (int i = 0; i < 300; i++) {
                    s.setInt(1, i);
                    s.setString(2, "row " + i + "é".repeat(60));
                    s.addBatch();
                }
                int[] counts = s.executeBatch();
                same(counts.length, 300);
                same(Arrays.stream(counts).sum(), 300);
            }
            try (Statement s = c.createStatement();
                    ResultSet r = s.executeQuery("SELECT id, t FROM dbo.jdbc_many ORDER BY id")) {
                int n = 0;
                for (; r.next(); n++) {
                    same(r.getInt(1), n);
                    same(r.getString(2), "row " + n + "é".repeat(60));
                }
                same(n, 300);
            }
            execute(c, "DROP TABLE dbo.jdbc_many");
        });
    }

    private static void interrupted(Connection c, Statement s) throws Exception {
        long began = System.nanoTime();
        try {
            s.execute("WAITFOR DELAY '00:00:20'");
        } catch (SQLException e) {
            long took = (System.nanoTime() - began) / 1_000_000;
            if (took > 8000) {
                throw new AssertionError("ended after " + took + " ms");
            }
            same(number(c, "SELECT 5"), 5);
            return;
        }
        throw new AssertionError("not interrupted");
    }

    private static void cancellation(Connection c) {
        run("cancelled query", () -> {
            try (Statement s = c.createStatement()) {
                Thread canceller = new Thread(() -> {
                    try {
                        Thread.sleep(300);
                        s.cancel();
                    } catch (InterruptedException | SQLException e) {
                        System.out.println("cancel: " + e);
                    }
                });
                canceller.start();
                interrupted(c, s);
                canceller.join();
            }
        });
        run("query timeout", () -> {
            try (Statement s = c.createStatement()) {
                s.setQueryTimeout(1);
                interrupted(c, s);
            }
        });
        run("waits as long as told", () -> {
            long began = System.nanoTime();
            execute(c, "WAITFOR DELAY '00:00:01'");
            if (System.nanoTime() - began < 900_000_000L) {
                throw new AssertionError("did not wait");
            }
        });
    }

    public static void main(String[] arguments) throws Exception {
        for (String encrypt : new String[] {"false", "true", "strict"}) {
            // Strict verifies always: only where the server's certificate is at hand.
            String certificate = System.getenv("GHOSTLIGHT_CERTIFICATE");
            if (encrypt.equals("strict") && certificate == null) {
                continue;
            }
            run("connect, encrypt=" + encrypt, () -> {
                try (Connection c = encrypt.equals("strict")
                        ? connect(encrypt, "serverCertificate", certificate, "trustServerCertificate", "false")
                        : connect(encrypt)) {
                    same(number(c, "SELECT 1"), 1);
                    everyType(c, encrypt);
                }
            });
        }
        try (Connection c = connect("true"); Connection watcher = connect("false")) {
            transactions(c, watcher);
            errors(watcher);
            severalResults(watcher);
            tables(c);
            manyRows(c);
            Cursors.run(c);
            Parameters.run(c);
            cancellation(c);
            execute(watcher, "DROP TABLE IF EXISTS dbo.jdbc_account");
        }
        System.out.println((passed + failed) + " operations, " + passed + " passed, " + failed + " failed");
        System.exit(failed > 0 || passed == 0 ? 1 : 0);
    }
}
