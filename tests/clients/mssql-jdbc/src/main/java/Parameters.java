// What mssql-jdbc asks of parameters that it does not know: getParameterMetaData, NULLs, calls.

import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.ParameterMetaData;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Types;

final class Parameters {
    private Parameters() {}

    private static final String[] NAMES = {"varchar", "varbinary", "decimal", "datetime2", "uniqueidentifier"};

    private static void described(Connection c) throws SQLException {
        String text = "INSERT INTO dbo.jdbc_parameters (v, b, d, t, g) VALUES (?, ?, ?, ?, ?)";
        try (PreparedStatement s = c.prepareStatement(text)) {
            ParameterMetaData m = s.getParameterMetaData();
            Client.same(m.getParameterCount(), NAMES.length);
            for (int i = 0; i < NAMES.length; i++) {
                Client.same(m.getParameterTypeName(i + 1), NAMES[i]);
            }
            Client.same(m.getPrecision(1), 30);
            Client.same(m.getParameterType(2), Types.VARBINARY);
            Client.same(m.getPrecision(3) * 100 + m.getScale(3), 903);
            for (int i = 1; i <= NAMES.length; i++) {
                s.setNull(i, m.getParameterType(i));
            }
            Client.same(s.executeUpdate(), 1);
        }
        text = "SELECT * FROM dbo.jdbc_parameters WHERE id > ? AND v LIKE ? AND d BETWEEN ? AND ?";
        try (PreparedStatement s = c.prepareStatement(text)) {
            ParameterMetaData m = s.getParameterMetaData();
            Client.same(m.getParameterTypeName(1), "int");
            Client.same(m.getParameterTypeName(2), "varchar");
            Client.same(m.getPrecision(4) * 100 + m.getScale(4), 3819);
        }
    }

    private static void called(Connection c) throws SQLException {
        try (CallableStatement s = c.prepareCall("{? = call dbo.jdbc_called(?, ?)}")) {
            s.registerOutParameter(1, Types.INTEGER);
            s.registerOutParameter(3, Types.VARCHAR);
            for (int n = 1; n <= 3; n++) {
                s.setInt(2, n);
                s.execute();
                Client.same(s.getInt(1), n + 1);
                Client.same(s.getString(3), "out " + n);
            }
            Client.same(s.getParameterMetaData().getParameterTypeName(1), "int");
        }
    }

    static void run(Connection c) {
        Client.run("a table and a procedure for parameters", () -> {
            Client.execute(c, "DROP TABLE IF EXISTS dbo.jdbc_parameters");
            Client.execute(c, "CREATE TABLE dbo.jdbc_parameters (id int IDENTITY PRIMARY KEY, v varchar(30), "
                    + "b varbinary(max), d decimal(9, 3), t datetime2(3), g uniqueidentifier)");
            Client.execute(c, "CREATE OR ALTER PROCEDURE dbo.jdbc_called @n int, @o varchar(20) OUTPUT AS "
                    + "SET @o = CONCAT('out ', @n); RETURN @n + 1");
        });
        Client.run("parameters are described", () -> described(c));
        Client.run("status and output of calls", () -> called(c));
        Client.run("no table and procedure any more", () -> {
            Client.execute(c, "DROP TABLE dbo.jdbc_parameters");
            Client.execute(c, "DROP PROCEDURE dbo.jdbc_called");
        });
    }
}
