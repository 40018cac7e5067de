// Server cursors through mssql-jdbc: scrollable and updatable result sets, selectMethod=cursor.

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

final class Cursors {
    private Cursors() {}

    private static void fill(Connection c) throws SQLException {
        Client.execute(c, "DROP TABLE IF EXISTS dbo.jdbc_rows");
        Client.execute(c, "CREATE TABLE dbo.jdbc_rows (id int NOT NULL PRIMARY KEY, v nvarchar(20), n int NOT NULL DEFAULT 7)");
        for (int i = 1; i <= 100; i++) {
            Client.execute(c, "INSERT INTO dbo.jdbc_rows (id, v) VALUES (" + i + ", N'row " + i + "')");
        }
    }

    private static Statement scrolling(Connection c, int type, int concurrency) throws SQLException {
        Statement s = c.createStatement(type, concurrency);
        s.setFetchSize(7);
        return s;
    }

    /** Everywhere in a scrollable result set. */
    private static void scroll(Connection c, int type, int concurrency) throws SQLException {
        try (Statement s = scrolling(c, type, concurrency);
                ResultSet r = s.executeQuery("SELECT id, v AS w, n * 2 AS d FROM dbo.jdbc_rows ORDER BY id")) {
            Client.same(r.getMetaData().getColumnCount(), 3);
            int n = 0;
            while (r.next()) {
                n++;
                Client.same(r.getInt(1), n);
                Client.same(r.getString("w"), "row " + n);
                Client.same(r.getInt(3), 14);
            }
            Client.same(n, 100);
            Client.same(r.isAfterLast(), true);
            for (; r.previous(); n--) {
                Client.same(r.getInt(1), n);
            }
            Client.same(n, 0);
            int[][] places = {{50, 50}, {-1, 100}, {-100, 1}, {3, 3}};
            for (int[] place : places) {
                Client.same(r.absolute(place[0]), true);
                Client.same(r.getInt(1), place[1]);
            }
            Client.same(r.relative(40), true);
            Client.same(r.getInt(1), 43);
            Client.same(r.relative(-42), true);
            Client.same(r.getInt(1), 1);
            Client.same(r.relative(-1), false);
            Client.same(r.last(), true);
            Client.same(r.getRow(), 100);
            Client.same(r.first(), true);
            Client.same(r.getInt("id"), 1);
            Client.same(r.absolute(101), false);
            Client.same(r.previous(), true);
            Client.same(r.getInt(1), 100);
            r.beforeFirst();
            Client.same(r.next(), true);
            Client.same(r.getInt(1), 1);
        }
    }

    private static void change(Connection c, int type) throws SQLException {
        fill(c);
        try (Statement s = scrolling(c, type, ResultSet.CONCUR_UPDATABLE);
                ResultSet r = s.executeQuery("SELECT id, v AS w, n FROM dbo.jdbc_rows ORDER BY id")) {
            Client.same(r.absolute(10), true);
            r.updateString("w", "new é");
            r.updateInt(3, 42);
            r.updateRow();
            Client.same(r.getString(2), "new é");
            Client.same(r.next(), true);
            Client.same(r.getInt(1), 11);
            r.deleteRow();
            Client.same(r.absolute(11), true);
            Client.same(r.rowDeleted(), true);
            r.moveToInsertRow();
            r.updateInt(1, 1000);
            r.updateString(2, "inserted");
            r.insertRow();
            r.moveToCurrentRow();
            Client.same(r.absolute(5), true);
            Client.execute(c, "UPDATE dbo.jdbc_rows SET v = N'elsewhere' WHERE id = 5");
            r.refreshRow();
            Client.same(r.getString(2), "elsewhere");
            r.updateNull(2);
            r.cancelRowUpdates();
            r.updateNull(2);
            r.updateRow();
        }
        Client.same(Client.number(c, "SELECT count(*) FROM dbo.jdbc_rows WHERE id = 10 AND v = N'new é' AND n = 42"), 1);
        Client.same(Client.number(c, "SELECT count(*) FROM dbo.jdbc_rows WHERE id = 11"), 0);
        Client.same(Client.number(c, "SELECT count(*) FROM dbo.jdbc_rows WHERE id = 1000 AND v = N'inserted' AND n = 7"), 1);
        Client.same(Client.number(c, "SELECT count(*) FROM dbo.jdbc_rows WHERE id = 5 AND v IS NULL"), 1);
    }

    /** A row that was inserted is the last one: it is changed and deleted, no other. */
    private static void own(Connection c) throws SQLException {
        fill(c);
        try (Statement s = scrolling(c, ResultSet.TYPE_SCROLL_SENSITIVE, ResultSet.CONCUR_UPDATABLE);
                ResultSet r = s.executeQuery("SELECT id, v, n FROM dbo.jdbc_rows WHERE id <= 20 ORDER BY v")) {
            for (int id : new int[] {1001, 1000}) {
                r.moveToInsertRow();
                r.updateInt(1, id);
                r.updateString(2, "own " + id);
                r.insertRow();
                r.moveToCurrentRow();
                Client.same(r.last(), true);
                Client.same(r.getInt(1), id);
                Client.same(r.getInt(3), 7);
            }
            Client.same(r.getRow(), 22);
            r.updateInt(3, 70);
            r.updateRow();
            r.refreshRow();
            Client.same(r.getInt(3), 70);
            r.deleteRow();
            Client.same(r.rowDeleted(), true);
            Client.same(r.absolute(-2), true);
            Client.same(r.getInt(1), 1001);
            Client.same(r.relative(1), true);
            Client.same(r.rowDeleted(), true);
            Client.same(r.next(), false);
            int n = 0;
            r.beforeFirst();
            while (r.next()) {
                n += r.rowDeleted() ? 0 : 1;
            }
            Client.same(n, 21);
        }
        Client.same(Client.number(c, "SELECT count(*) FROM dbo.jdbc_rows"), 101);
        Client.same(Client.number(c, "SELECT count(*) FROM dbo.jdbc_rows WHERE id = 1000"), 0);
        try (Statement s = scrolling(c, ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_READ_ONLY)) {
            s.setMaxRows(3);
            try (ResultSet r = s.executeQuery("SELECT id FROM dbo.jdbc_rows ORDER BY id")) {
                Client.same(r.last(), true);
                Client.same(r.getInt(1), 3);
            }
        }
    }

    /** selectMethod=cursor: every query through a cursor, a few rows at a time. */
    private static void everyQuery(Connection c) throws SQLException {
        c.setAutoCommit(false);
        try (PreparedStatement s = c.prepareStatement("SELECT id, v FROM dbo.jdbc_rows WHERE id > ? ORDER BY id")) {
            for (int from : new int[] {0, 90}) {
                s.setFetchSize(9);
                s.setInt(1, from);
                int n = from;
                try (ResultSet r = s.executeQuery()) {
                    while (r.next()) {
                        n++;
                        Client.same(r.getInt(1), n);
                        Client.same(r.getString(2), "row " + n);
                    }
                }
                Client.same(n, 100);
            }
        }
        Client.execute(c, "UPDATE dbo.jdbc_rows SET n = 8 WHERE id = 1");
        try (Statement s = c.createStatement();
                ResultSet r = s.executeQuery("SELECT n FROM dbo.jdbc_rows WHERE id = 1")) {
            Client.same(r.next(), true);
            Client.same(r.getInt(1), 8);
            Client.same(r.next(), false);
        }
        c.rollback();
        c.setAutoCommit(true);
    }

    static void run(Connection c) {
        Client.run("rows for cursors", () -> fill(c));
        Client.run("scroll, insensitive", () ->
                scroll(c, ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_READ_ONLY));
        Client.run("scroll, sensitive", () ->
                scroll(c, ResultSet.TYPE_SCROLL_SENSITIVE, ResultSet.CONCUR_READ_ONLY));
        Client.run("scroll, sensitive and updatable", () ->
                scroll(c, ResultSet.TYPE_SCROLL_SENSITIVE, ResultSet.CONCUR_UPDATABLE));
        Client.run("update, insert and delete rows", () -> change(c, ResultSet.TYPE_SCROLL_SENSITIVE));
        Client.run("rows of one's own", () -> own(c));
        Client.run("forward only and updatable", () -> {
            fill(c);
            try (Statement s = scrolling(c, ResultSet.TYPE_FORWARD_ONLY, ResultSet.CONCUR_UPDATABLE);
                    ResultSet r = s.executeQuery("SELECT id, n FROM dbo.jdbc_rows ORDER BY id")) {
                while (r.next()) {
                    if (r.getInt(1) % 10 == 0) {
                        r.updateInt(2, 100);
                        r.updateRow();
                    } else if (r.getInt(1) % 10 == 1) {
                        r.deleteRow();
                    }
                }
            }
            Client.same(Client.number(c, "SELECT sum(n) FROM dbo.jdbc_rows"), 10 * 100 + 80 * 7);
        });
        Client.run("selectMethod=cursor", () -> {
            fill(c);
            try (Connection own = Client.connect("false", "selectMethod", "cursor")) {
                everyQuery(own);
            }
        });
        Client.run("no rows for cursors any more", () -> Client.execute(c, "DROP TABLE dbo.jdbc_rows"));
    }
}
