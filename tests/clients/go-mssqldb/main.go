// go-mssqldb against a running server: every type, parameters, prepared statements, transactions,
// errors, several result sets, output parameters, cancellation, with and without encryption.
//
// Prints a line for each operation that fails; the last line is
// `N operations, N passed, N failed`.
package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	mssql "github.com/microsoft/go-mssqldb"
)

type tally struct{ passed, failed int }

func (t *tally) run(name string, operation func() error) {
	err := func() (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("panic: %v", p)
			}
		}()
		return operation()
	}()
	if err == nil {
		t.passed++
		return
	}
	t.failed++
	text := err.Error()
	if len(text) > 300 {
		text = text[:300]
	}
	fmt.Printf("FAILED %s: %s\n", name, text)
}

func connect(password, database, encrypt string) *sql.DB {
	query := url.Values{}
	query.Set("database", database)
	query.Set("encrypt", encrypt)
	query.Set("TrustServerCertificate", "true")
	query.Set("dial timeout", "10")
	u := url.URL{
		Scheme:   "sqlserver",
		User:     url.UserPassword(os.Getenv("GHOSTLIGHT_USER"), password),
		Host:     os.Getenv("GHOSTLIGHT_HOST") + ":" + os.Getenv("GHOSTLIGHT_PORT"),
		RawQuery: query.Encode(),
	}
	db, err := sql.Open("sqlserver", u.String())
	if err != nil {
		panic(err)
	}
	db.SetMaxOpenConns(4)
	return db
}

func same(found, wanted any) error {
	switch w := wanted.(type) {
	case []byte:
		if f, ok := found.([]byte); ok && bytes.Equal(f, w) && (f == nil) == (w == nil) {
			return nil
		}
	case time.Time:
		if f, ok := found.(time.Time); ok && f.Equal(w) {
			_, a := f.Zone()
			_, b := w.Zone()
			if a == b {
				return nil
			}
		}
	default:
		if found == wanted {
			return nil
		}
	}
	return fmt.Errorf("%.80v (%T) is not %.80v (%T)", found, found, wanted, wanted)
}

func failsWith(err error, number int32, class uint8) error {
	var e mssql.Error
	if !errors.As(err, &e) {
		return fmt.Errorf("no SQL error but %v", err)
	}
	if e.Number != number || (class != 0 && e.Class != class) {
		return fmt.Errorf("error %d, class %d instead of %d, %d: %s", e.Number, e.Class, number, class, e.Message)
	}
	return nil
}

type column struct {
	sqlType string
	values  []any // given, or given and wanted as a pair
}

type pair struct{ given, wanted any }

func moment(zone *time.Location, y, m, d, h, min, s, ns int) time.Time {
	return time.Date(y, time.Month(m), d, h, min, s, ns, zone)
}

func columns() []column {
	utc := time.UTC
	east := time.FixedZone("", 5*3600+1800)
	west := time.FixedZone("", -8*3600)
	guid := []byte{0x33, 0x22, 0x11, 0x00, 0x55, 0x44, 0x77, 0x66, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff}
	return []column{
		{"bit", []any{true, false}},
		{"tinyint", []any{int64(0), int64(255)}},
		{"smallint", []any{int64(-32768), int64(32767)}},
		{"int", []any{int64(-2147483648), int64(2147483647)}},
		{"bigint", []any{int64(-9223372036854775808), int64(9223372036854775807)}},
		{"decimal(38,10)", []any{
			pair{"1234567890123456789012345678.0123456789", []byte("1234567890123456789012345678.0123456789")},
			pair{"-0.0000000001", []byte("-0.0000000001")}}},
		{"numeric(9,2)", []any{pair{"9999999.99", []byte("9999999.99")}, pair{"-0.01", []byte("-0.01")}}},
		{"money", []any{
			pair{"922337203685477.5807", []byte("922337203685477.5807")},
			pair{"-922337203685477.5808", []byte("-922337203685477.5808")}}},
		{"smallmoney", []any{
			pair{"214748.3647", []byte("214748.3647")}, pair{"-214748.3648", []byte("-214748.3648")}}},
		{"real", []any{1.5, -0.25}},
		{"float", []any{1.7976931348623157e308, -2.2250738585072014e-308}},
		{"date", []any{moment(utc, 1, 1, 1, 0, 0, 0, 0), moment(utc, 9999, 12, 31, 0, 0, 0, 0)}},
		{"time(7)", []any{
			pair{"23:59:59.9999999", moment(utc, 1, 1, 1, 23, 59, 59, 999999900)},
			pair{"00:00:00", moment(utc, 1, 1, 1, 0, 0, 0, 0)}}},
		{"time(0)", []any{pair{"12:34:56", moment(utc, 1, 1, 1, 12, 34, 56, 0)}}},
		{"datetime", []any{
			pair{mssql.DateTime1(moment(utc, 1753, 1, 1, 0, 0, 0, 0)), moment(utc, 1753, 1, 1, 0, 0, 0, 0)},
			pair{mssql.DateTime1(moment(utc, 2024, 2, 29, 12, 34, 56, 790000000)), moment(utc, 2024, 2, 29, 12, 34, 56, 790000000)}}},
		{"smalldatetime", []any{
			moment(utc, 1900, 1, 1, 0, 0, 0, 0), moment(utc, 2079, 6, 6, 23, 59, 0, 0)}},
		{"datetime2(7)", []any{
			pair{moment(utc, 1, 1, 1, 0, 0, 0, 0), moment(utc, 1, 1, 1, 0, 0, 0, 0)},
			pair{moment(utc, 9999, 12, 31, 23, 59, 59, 999999900), moment(utc, 9999, 12, 31, 23, 59, 59, 999999900)}}},
		{"datetime2(3)", []any{moment(utc, 2024, 2, 29, 12, 34, 56, 789000000)}},
		{"datetimeoffset(7)", []any{
			moment(east, 2024, 2, 29, 12, 34, 56, 123456700), moment(west, 1, 1, 2, 0, 0, 0, 0)}},
		{"char(5)", []any{pair{mssql.VarChar("abc"), "abc  "}, pair{mssql.VarChar("x'y"), "x'y  "}}},
		{"varchar(20)", []any{pair{mssql.VarChar(""), ""}, pair{"Grün €", "Grün €"}}},
		{"varchar(max)", []any{pair{mssql.VarCharMax(strings.Repeat("x", 200000)), strings.Repeat("x", 200000)}, "y"}},
		{"nchar(4)", []any{pair{"ab", "ab  "}, "Ωж漢字"}},
		{"nvarchar(20)", []any{"", "'Ωж漢字😀"}},
		{"nvarchar(max)", []any{strings.Repeat("漢", 100000), "z"}},
		{"binary(4)", []any{[]byte{0, 1, 0xfe, 0xff}, pair{[]byte("a"), []byte("a\x00\x00\x00")}}},
		{"varbinary(20)", []any{[]byte{}, []byte("'\x00\xff")}},
		{"varbinary(max)", []any{bytes.Repeat([]byte{0, 1, 2, 255}, 50000), []byte("q")}},
		{"uniqueidentifier", []any{
			pair{"00112233-4455-6677-8899-aabbccddeeff", guid},
			pair{"00000000-0000-0000-0000-000000000000", make([]byte, 16)}}},
	}
}

func everyType(t *tally, db *sql.DB, suffix string) {
	for i, c := range columns() {
		table := fmt.Sprintf("dbo.go_type_%s_%d", suffix, i)
		t.run("create "+c.sqlType, func() error {
			if _, err := db.Exec("DROP TABLE IF EXISTS " + table); err != nil {
				return err
			}
			_, err := db.Exec("CREATE TABLE " + table + " (id int NOT NULL PRIMARY KEY, v " + c.sqlType + " NULL)")
			return err
		})
		for id, value := range append(append([]any{}, c.values...), nil) {
			given, wanted := value, value
			if p, ok := value.(pair); ok {
				given, wanted = p.given, p.wanted
			}
			if given == nil && strings.HasPrefix(c.sqlType, "varbinary") || given == nil && strings.HasPrefix(c.sqlType, "binary") {
				given = []byte(nil)
			}
			t.run(fmt.Sprintf("write %s %d", c.sqlType, id), func() error {
				r, err := db.Exec("INSERT INTO "+table+" (id, v) VALUES (@p1, @p2)", id, given)
				if err != nil {
					return err
				}
				n, err := r.RowsAffected()
				return errors.Join(err, same(n, int64(1)))
			})
			t.run(fmt.Sprintf("read %s %d", c.sqlType, id), func() error {
				var found any
				if err := db.QueryRow("SELECT v FROM "+table+" WHERE id = @p1", id).Scan(&found); err != nil {
					return err
				}
				return same(found, wanted)
			})
		}
		t.run("count "+c.sqlType, func() error {
			var all, nulls int
			err := db.QueryRow("SELECT COUNT(*) FROM " + table).Scan(&all)
			err = errors.Join(err, db.QueryRow("SELECT COUNT(*) FROM "+table+" WHERE v IS NULL").Scan(&nulls))
			_, dropped := db.Exec("DROP TABLE " + table)
			return errors.Join(err, dropped, same(all, len(c.values)+1), same(nulls, 1))
		})
	}
}

func count(q interface {
	QueryRow(string, ...any) *sql.Row
}) (int, error) {
	var n int
	err := q.QueryRow("SELECT COUNT(*) FROM dbo.go_account").Scan(&n)
	return n, err
}

func counts(q interface {
	QueryRow(string, ...any) *sql.Row
}, wanted int) error {
	n, err := count(q)
	return errors.Join(err, same(n, wanted))
}

func exec(q interface {
	Exec(string, ...any) (sql.Result, error)
}, text string, arguments ...any) error {
	_, err := q.Exec(text, arguments...)
	return err
}

func transactions(t *tally, db *sql.DB) {
	t.run("prepare", func() error {
		return errors.Join(exec(db, "DROP TABLE IF EXISTS dbo.go_account"),
			exec(db, "CREATE TABLE dbo.go_account (id int NOT NULL PRIMARY KEY, "+
				"amount int NOT NULL CONSTRAINT ck_go_amount CHECK (amount >= 0))"))
	})
	t.run("rollback", func() error {
		tx, err := db.Begin()
		if err != nil {
			return err
		}
		err = exec(tx, "INSERT INTO dbo.go_account (id, amount) VALUES (@p1, @p2)", 1, 10)
		var depth int
		err = errors.Join(err, tx.QueryRow("SELECT @@TRANCOUNT").Scan(&depth), same(depth, 1))
		return errors.Join(err, counts(tx, 1), tx.Rollback(), counts(db, 0))
	})
	t.run("commit", func() error {
		tx, err := db.BeginTx(context.Background(), &sql.TxOptions{Isolation: sql.LevelSerializable})
		if err != nil {
			return err
		}
		err = exec(tx, "INSERT INTO dbo.go_account (id, amount) VALUES (1, 10)")
		return errors.Join(err, tx.Commit(), counts(db, 1))
	})
	t.run("savepoint", func() error {
		tx, err := db.Begin()
		if err != nil {
			return err
		}
		err = errors.Join(
			exec(tx, "INSERT INTO dbo.go_account (id, amount) VALUES (2, 20)"),
			exec(tx, "SAVE TRANSACTION middle"),
			exec(tx, "INSERT INTO dbo.go_account (id, amount) VALUES (3, 30)"),
			counts(tx, 3), exec(tx, "ROLLBACK TRANSACTION middle"), counts(tx, 2))
		return errors.Join(err, tx.Commit(), counts(db, 2))
	})
	t.run("update counts", func() error {
		for _, c := range []struct {
			text string
			rows int64
		}{
			{"UPDATE dbo.go_account SET amount = amount + 1", 2},
			{"DELETE FROM dbo.go_account WHERE id = 2", 1},
			{"UPDATE dbo.go_account SET amount = 0 WHERE id = 77", 0},
		} {
			r, err := db.Exec(c.text)
			if err != nil {
				return err
			}
			n, err := r.RowsAffected()
			if err = errors.Join(err, same(n, c.rows)); err != nil {
				return err
			}
		}
		return nil
	})
}

func failures(t *tally, db *sql.DB) {
	for _, c := range []struct {
		number int32
		class  uint8
		text   string
	}{
		{102, 15, "SELECT * FORM"},
		{137, 15, "SELECT @undeclared"},
		{207, 16, "SELECT nothing FROM dbo.go_account"},
		{208, 16, "SELECT * FROM dbo.missing"},
		{245, 16, "SELECT CAST('abc' AS int)"},
		{515, 16, "INSERT INTO dbo.go_account (id, amount) VALUES (9, NULL)"},
		{547, 16, "INSERT INTO dbo.go_account (id, amount) VALUES (9, -1)"},
		{2627, 14, "INSERT INTO dbo.go_account (id, amount) VALUES (1, 1)"},
		{2714, 16, "CREATE TABLE dbo.go_account (id int)"},
		{3701, 11, "DROP TABLE dbo.missing"},
		{8115, 16, "SELECT 2147483647 + 1"},
		{8134, 16, "SELECT 1 / 0"},
		{50000, 16, "RAISERROR('mine', 16, 3)"},
		{51234, 16, "THROW 51234, 'thrown', 2"},
	} {
		t.run(fmt.Sprintf("error %d", c.number), func() error {
			rows, err := db.Query(c.text)
			if err == nil {
				for rows.Next() {
				}
				err = rows.Err()
				rows.Close()
			}
			return failsWith(err, c.number, c.class)
		})
	}
	t.run("line of an error", func() error {
		err := exec(db, "SELECT 1\n\nSELECT * FROM dbo.missing")
		var e mssql.Error
		if !errors.As(err, &e) {
			return fmt.Errorf("no error but %v", err)
		}
		return errors.Join(same(e.LineNo, int32(3)), same(e.Number, int32(208)))
	})
	t.run("error 18456", func() error {
		wrong := connect("wrong", "master", "false")
		defer wrong.Close()
		return failsWith(wrong.Ping(), 18456, 14)
	})
	t.run("error 4060", func() error {
		wrong := connect(os.Getenv("GHOSTLIGHT_PASSWORD"), "missing", "false")
		defer wrong.Close()
		err := wrong.Ping()
		var e mssql.Error
		if !errors.As(err, &e) {
			return fmt.Errorf("no error but %v", err)
		}
		for _, one := range e.All {
			if one.Number == 4060 {
				return nil
			}
		}
		return failsWith(err, 4060, 11)
	})
}

func resultSets(t *tally, db *sql.DB) {
	t.run("several result sets", func() error {
		rows, err := db.Query("SELECT 1 AS a; SELECT N'two' AS b, 2 AS c; SELECT 3")
		if err != nil {
			return err
		}
		defer rows.Close()
		var a, c int
		var b string
		if !rows.Next() {
			return errors.New("no first row")
		}
		err = errors.Join(rows.Scan(&a), same(a, 1), same(rows.Next(), false), same(rows.NextResultSet(), true))
		names, _ := rows.Columns()
		err = errors.Join(err, same(strings.Join(names, ","), "b,c"), same(rows.Next(), true), rows.Scan(&b, &c))
		err = errors.Join(err, same(b, "two"), same(c, 2), same(rows.Next(), false), same(rows.NextResultSet(), true))
		err = errors.Join(err, same(rows.Next(), true), rows.Scan(&a), same(a, 3))
		return errors.Join(err, same(rows.NextResultSet(), false), rows.Err())
	})
	t.run("prepared statement", func() error {
		s, err := db.Prepare("SELECT @p1 + 1, @p2")
		if err != nil {
			return err
		}
		defer s.Close()
		for i := range int64(50) {
			var n int64
			var text string
			if err := s.QueryRow(i, fmt.Sprint("n", i)).Scan(&n, &text); err != nil {
				return err
			}
			if err := errors.Join(same(n, i+1), same(text, fmt.Sprint("n", i))); err != nil {
				return err
			}
		}
		return nil
	})
	t.run("procedure with an output parameter", func() error {
		err := errors.Join(exec(db, "DROP PROCEDURE IF EXISTS dbo.go_add"),
			exec(db, "CREATE PROCEDURE dbo.go_add @a int, @b int OUTPUT AS SET @b = @a + 1"))
		var b int64
		var status mssql.ReturnStatus
		err = errors.Join(err, exec(db, "dbo.go_add", sql.Named("a", 41), sql.Named("b", sql.Out{Dest: &b}), &status))
		return errors.Join(err, same(b, int64(42)), same(int32(status), int32(0)), exec(db, "DROP PROCEDURE dbo.go_add"))
	})
	t.run("output parameter of a batch", func() error {
		var n int64
		err := exec(db, "SET @n = @m + 1", sql.Named("m", 5), sql.Named("n", sql.Out{Dest: &n}))
		return errors.Join(err, same(n, int64(6)))
	})
}

// A row of the table type that tables makes.
type tableRow struct {
	ID   int64          `tvp:"id"`
	Name sql.NullString `tvp:"name"`
	At   time.Time      `tvp:"at"`
}

func tables(t *tally, db *sql.DB) {
	at := time.Date(2024, 2, 29, 13, 14, 15, 120000000, time.UTC)
	pairs := []tableRow{
		{2, sql.NullString{String: "zwölf", Valid: true}, at}, {1, sql.NullString{}, at.AddDate(0, 0, 1)},
	}
	t.run("table type and procedure", func() error {
		return errors.Join(exec(db, "DROP PROCEDURE IF EXISTS dbo.go_table; DROP TYPE IF EXISTS dbo.go_pairs"),
			exec(db, "CREATE TYPE dbo.go_pairs AS TABLE (id int NOT NULL PRIMARY KEY, name nvarchar(20), at datetime2(3))"),
			exec(db, "CREATE PROCEDURE dbo.go_table @p dbo.go_pairs READONLY, @n int AS SELECT id + @n, name, at FROM @p ORDER BY id"))
	})
	read := func(text string, arguments ...any) error {
		rows, err := db.Query(text, arguments...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for _, wanted := range []tableRow{pairs[1], pairs[0]} {
			var p tableRow
			if !rows.Next() {
				return errors.Join(errors.New("too few rows"), rows.Err())
			}
			if err := rows.Scan(&p.ID, &p.Name, &p.At); err != nil {
				return err
			}
			p.At = p.At.UTC()
			if err := errors.Join(same(p.ID, wanted.ID+10), same(p.Name, wanted.Name), same(p.At, wanted.At)); err != nil {
				return err
			}
		}
		return errors.Join(same(rows.Next(), false), rows.Err())
	}
	table := mssql.TVP{TypeName: "dbo.go_pairs", Value: pairs}
	t.run("table to a procedure", func() error {
		return read("dbo.go_table", sql.Named("p", table), sql.Named("n", 10))
	})
	t.run("table to a batch", func() error {
		return read("SELECT id + 10, name, at FROM @p ORDER BY id", sql.Named("p", table))
	})
	t.run("empty table", func() error {
		var n int64
		empty := mssql.TVP{TypeName: "dbo.go_pairs", Value: []tableRow{}}
		err := db.QueryRow("SELECT COUNT(*) FROM @p", sql.Named("p", empty)).Scan(&n)
		return errors.Join(err, same(n, int64(0)))
	})
	t.run("table of 3000 rows", func() error {
		var n, sum int64
		many := make([]tableRow, 3000)
		for i := range many {
			many[i] = tableRow{int64(i), sql.NullString{String: strings.Repeat("x", 15), Valid: true}, at}
		}
		value := mssql.TVP{TypeName: "dbo.go_pairs", Value: many}
		err := db.QueryRow("SELECT COUNT(*), SUM(id) FROM @p", sql.Named("p", value)).Scan(&n, &sum)
		return errors.Join(err, same(n, int64(3000)), same(sum, int64(4498500)))
	})
	t.run("error 2627 of a table", func() error {
		twice := mssql.TVP{TypeName: "dbo.go_pairs", Value: []tableRow{pairs[0], pairs[0]}}
		return failsWith(exec(db, "SELECT COUNT(*) FROM @p", sql.Named("p", twice)), 2627, 14)
	})
	t.run("drop the table type", func() error {
		return exec(db, "DROP PROCEDURE dbo.go_table; DROP TYPE dbo.go_pairs")
	})
}

func manyRows(t *tally, db *sql.DB) {
	t.run("many rows in many packets", func() error {
		err := errors.Join(exec(db, "DROP TABLE IF EXISTS dbo.go_many"),
			exec(db, "CREATE TABLE dbo.go_many (id int NOT NULL PRIMARY KEY, t nvarchar(100) NOT NULL)"))
		s, failed := db.Prepare("INSERT INTO dbo.go_many (id, t) VALUES (@p1, @p2)")
		if err = errors.Join(err, failed); err != nil {
			return err
		}
		defer s.Close()
		text := func(i int) string { return fmt.Sprint("row ", i, strings.Repeat("é", 60)) }
		for i := range 300 {
			if _, err := s.Exec(i, text(i)); err != nil {
				return err
			}
		}
		rows, err := db.Query("SELECT id, t FROM dbo.go_many ORDER BY id")
		if err != nil {
			return err
		}
		defer rows.Close()
		n := 0
		for ; rows.Next(); n++ {
			var id int
			var found string
			if err := errors.Join(rows.Scan(&id, &found), same(id, n), same(found, text(n))); err != nil {
				return err
			}
		}
		return errors.Join(rows.Err(), same(n, 300), exec(db, "DROP TABLE dbo.go_many"))
	})
}

func bulkCopy(t *tally, db *sql.DB) {
	const columns = "id int NOT NULL PRIMARY KEY, t nvarchar(100) NULL, v varchar(20) NULL, d decimal(12,2) NULL, " +
		"at datetime2(7) NULL, f float NULL, big bigint NULL, flag bit NULL, b varbinary(50) NULL, m nvarchar(max) NULL"
	load := func(options mssql.BulkOptions, count int) (int64, error) {
		txn, err := db.Begin()
		if err != nil {
			return 0, err
		}
		defer txn.Rollback()
		s, err := txn.Prepare(mssql.CopyIn("dbo.go_bulk", options, "id", "t", "v", "d", "at", "f", "big", "flag", "b", "m"))
		if err != nil {
			return 0, err
		}
		at := time.Date(2001, 2, 3, 4, 5, 6, 700, time.UTC)
		for i := range count {
			var err error
			if i%5 == 4 {
				_, err = s.Exec(i, nil, nil, nil, nil, nil, nil, nil, nil, nil)
			} else {
				_, err = s.Exec(i, fmt.Sprint("é", i), fmt.Sprint("v", i), "12.50", at, float64(i)/4, int64(i)<<33,
					i%2 == 0, []byte{byte(i), 0, 1}, strings.Repeat("long ", i%4000))
			}
			if err != nil {
				return 0, err
			}
		}
		result, err := s.Exec()
		if err != nil {
			return 0, err
		}
		n, err := result.RowsAffected()
		return n, errors.Join(err, s.Close(), txn.Commit())
	}
	t.run("bulk copy", func() error {
		err := errors.Join(exec(db, "DROP TABLE IF EXISTS dbo.go_bulk"), exec(db, "CREATE TABLE dbo.go_bulk ("+columns+")"))
		n, failed := load(mssql.BulkOptions{RowsPerBatch: 1000, Tablock: true}, 3000)
		var rows, nulls, long, big int64
		var text, money string
		scan := db.QueryRow("SELECT COUNT(*), SUM(CASE WHEN t IS NULL AND m IS NULL THEN 1 ELSE 0 END), MAX(LEN(m + 'x')), " +
			"MAX(big), MAX(CASE id WHEN 7 THEN t + v END), MAX(CASE id WHEN 7 THEN CONVERT(varchar(20), d) END) FROM dbo.go_bulk")
		err = errors.Join(err, failed, scan.Scan(&rows, &nulls, &long, &big, &text, &money))
		return errors.Join(err, same(n, int64(3000)), same(rows, int64(3000)), same(nulls, int64(600)),
			same(long, int64(5*2998+1)), same(big, int64(2998)<<33), same(text, "é7v7"), same(money, "12.50"))
	})
	t.run("bulk copy of a key that is there", func() error {
		_, err := load(mssql.BulkOptions{}, 10)
		if found := (mssql.Error{}); !errors.As(err, &found) || found.Number != 2627 {
			return fmt.Errorf("no error 2627: %v", err)
		}
		var n int
		return errors.Join(db.QueryRow("SELECT COUNT(*) FROM dbo.go_bulk").Scan(&n), same(n, 3000), exec(db, "DROP TABLE dbo.go_bulk"))
	})
}

func cancellation(t *tally, db *sql.DB) {
	t.run("cancelled query", func() error {
		conn, err := db.Conn(context.Background())
		if err != nil {
			return err
		}
		defer conn.Close()
		ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
		defer cancel()
		began := time.Now()
		_, err = conn.ExecContext(ctx, "WAITFOR DELAY '00:00:20'")
		took := time.Since(began)
		if err == nil || took < 200*time.Millisecond || took > 5*time.Second {
			return fmt.Errorf("%v after %v", err, took)
		}
		return nil
	})
	t.run("goes on after a cancelled query", func() error {
		var n int
		return errors.Join(db.QueryRow("SELECT 5").Scan(&n), same(n, 5))
	})
	t.run("waits as long as told", func() error {
		began := time.Now()
		err := exec(db, "WAITFOR DELAY '00:00:01'")
		if took := time.Since(began); took < 900*time.Millisecond {
			return fmt.Errorf("waited %v", took)
		}
		return err
	})
}

func main() {
	t := &tally{}
	password := os.Getenv("GHOSTLIGHT_PASSWORD")
	for _, encrypt := range []string{"disable", "false", "true"} {
		db := connect(password, "master", encrypt)
		t.run("select, encrypt="+encrypt, func() error {
			var n int
			return errors.Join(db.QueryRow("SELECT 1").Scan(&n), same(n, 1))
		})
		if encrypt != "disable" {
			everyType(t, db, encrypt)
		}
		db.Close()
	}
	db := connect(password, "master", "true")
	transactions(t, db)
	failures(t, db)
	resultSets(t, db)
	tables(t, db)
	manyRows(t, db)
	bulkCopy(t, db)
	cancellation(t, db)
	t.run("clean up", func() error { return exec(db, "DROP TABLE dbo.go_account") })
	db.Close()
	fmt.Printf("%d operations, %d passed, %d failed\n", t.passed+t.failed, t.passed, t.failed)
	if t.failed > 0 || t.passed == 0 {
		os.Exit(1)
	}
}
