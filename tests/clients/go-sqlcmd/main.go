// go-sqlcmd, the command line tool, against a running server: scripts in, text and exit codes out.
//
// Prints a line for each operation that fails; the last line is
// `N operations, N passed, N failed`.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

var passed, failed int

func sqlcmd(password, script string, more ...string) (string, int) {
	server := fmt.Sprintf("tcp:%s,%s", os.Getenv("GHOSTLIGHT_HOST"), os.Getenv("GHOSTLIGHT_PORT"))
	arguments := append([]string{"-S", server, "-U", os.Getenv("GHOSTLIGHT_USER"), "-C", "-W", "-s", "|"}, more...)
	command := exec.Command("./sqlcmd", arguments...)
	command.Env = append(os.Environ(), "SQLCMDPASSWORD="+password)
	command.Stdin = strings.NewReader(script)
	output, err := command.CombinedOutput()
	if err != nil && command.ProcessState == nil {
		return err.Error(), -1
	}
	return strings.ReplaceAll(string(output), "\r", ""), command.ProcessState.ExitCode()
}

// A script whose output must hold these parts in this order.
func run(name, script string, code int, wanted []string, more ...string) {
	output, exit := sqlcmd(os.Getenv("GHOSTLIGHT_PASSWORD"), script, more...)
	judge(name, output, exit, code, wanted)
}

func judge(name, output string, exit, code int, wanted []string) {
	rest := output
	for _, part := range wanted {
		_, after, found := strings.Cut(rest, part)
		if !found {
			fail(name, fmt.Sprintf("%q is not in %.600q", part, output))
			return
		}
		rest = after
	}
	if exit != code {
		fail(name, fmt.Sprintf("exit code %d instead of %d: %.600q", exit, code, output))
		return
	}
	passed++
}

func fail(name, why string) {
	failed++
	fmt.Printf("FAILED %s: %s\n", name, why)
}

var types = []struct{ sqlType, literal, shown string }{
	{"bit", "1", "1"},
	{"tinyint", "255", "255"},
	{"smallint", "-32768", "-32768"},
	{"int", "-2147483648", "-2147483648"},
	{"bigint", "9223372036854775807", "9223372036854775807"},
	{"decimal(38,10)", "-1234567890123456789012345678.0123456789", "-1234567890123456789012345678.0123456789"},
	{"numeric(9,2)", "-0.01", "-0.01"},
	{"money", "-922337203685477.5808", "-922337203685477.5808"},
	{"smallmoney", "214748.3647", "214748.3647"},
	{"real", "-0.25", "-0.25"},
	{"float", "1.5", "1.5"},
	{"date", "'9999-12-31'", "9999-12-31"},
	{"time(7)", "'23:59:59.9999999'", "23:59:59.9999999"},
	{"datetime", "'2024-02-29T12:34:56.790'", "2024-02-29 12:34:56.790"},
	{"smalldatetime", "'2079-06-06T23:59:00'", "2079-06-06 23:59:00"},
	{"datetime2(7)", "'9999-12-31T23:59:59.9999999'", "9999-12-31 23:59:59.9999999"},
	{"datetimeoffset(7)", "'2024-02-29T12:34:56.1234567+05:30'", "2024-02-29 12:34:56.1234567 +05:30"},
	{"char(5)", "'abc'", "abc  "},
	{"varchar(20)", "'Grün €'", "Grün €"},
	{"varchar(max)", "'varying'", "varying"},
	{"nchar(4)", "N'Ωж漢字'", "Ωж漢字"},
	{"nvarchar(20)", "N'it''s Ωж漢字'", "it's Ωж漢字"},
	{"nvarchar(max)", "N'漢字'", "漢字"},
	{"binary(4)", "0x0001FEFF", "0x0001FEFF"},
	{"varbinary(20)", "0xABCDEF", "0xABCDEF"},
	{"varbinary(max)", "0x00FF00FF", "0x00FF00FF"},
	{"uniqueidentifier", "'00112233-4455-6677-8899-AABBCCDDEEFF'", "00112233-4455-6677-8899-aabbccddeeff"},
}

func everyType() {
	for i, t := range types {
		table := fmt.Sprintf("dbo.sqlcmd_type_%d", i)
		script := fmt.Sprintf("SET NOCOUNT ON;\nDROP TABLE IF EXISTS %[1]s;\nCREATE TABLE %[1]s (id int NOT NULL PRIMARY KEY, v %[2]s NULL);\nGO\n"+
			"INSERT INTO %[1]s (id, v) VALUES (1, %[3]s), (2, NULL);\nGO\n"+
			"SELECT id, v AS value FROM %[1]s ORDER BY id;\nGO\nDROP TABLE %[1]s;\nGO\n", table, t.sqlType, t.literal)
		null := "2|NULL\n"
		if strings.Contains(t.sqlType, "binary") {
			null = "2|0xNULL\n" // as the tool spells it
		}
		run("type "+t.sqlType, script, 0, []string{"id|value\n", "1|" + t.shown + "\n", null}, "-b")
	}
}

func transactions() {
	run("rollback, savepoint, commit", `
DROP TABLE IF EXISTS dbo.sqlcmd_account;
CREATE TABLE dbo.sqlcmd_account (id int NOT NULL PRIMARY KEY, amount int NOT NULL CONSTRAINT ck_sqlcmd_amount CHECK (amount >= 0));
GO
BEGIN TRANSACTION; INSERT INTO dbo.sqlcmd_account (id, amount) VALUES (1, 10); ROLLBACK TRANSACTION;
SELECT COUNT(*) AS after_rollback FROM dbo.sqlcmd_account;
GO
BEGIN TRANSACTION; INSERT INTO dbo.sqlcmd_account (id, amount) VALUES (1, 10);
SAVE TRANSACTION middle; INSERT INTO dbo.sqlcmd_account (id, amount) VALUES (2, 10);
ROLLBACK TRANSACTION middle; COMMIT TRANSACTION;
SELECT COUNT(*) AS after_commit FROM dbo.sqlcmd_account; SELECT @@TRANCOUNT AS depth;
GO
`, 0, []string{"after_rollback\n", "\n0\n", "after_commit\n", "\n1\n", "depth\n", "\n0\n"}, "-b")
	run("rows affected", "UPDATE dbo.sqlcmd_account SET amount = amount + 1;\nGO\nDELETE FROM dbo.sqlcmd_account WHERE id = 77;\nGO\n",
		0, []string{"(1 row affected)", "(0 rows affected)"}, "-b")
}

func errorsToo() {
	for _, c := range []struct {
		number, level int
		text          string
	}{
		{102, 15, "SELECT * FORM"},
		{137, 15, "SELECT @undeclared"},
		{207, 16, "SELECT nothing FROM dbo.sqlcmd_account"},
		{208, 16, "SELECT * FROM dbo.missing"},
		{245, 16, "SELECT CAST('abc' AS int)"},
		{515, 16, "INSERT INTO dbo.sqlcmd_account (id, amount) VALUES (9, NULL)"},
		{547, 16, "INSERT INTO dbo.sqlcmd_account (id, amount) VALUES (9, -1)"},
		{2627, 14, "INSERT INTO dbo.sqlcmd_account (id, amount) VALUES (1, 1)"},
		{2714, 16, "CREATE TABLE dbo.sqlcmd_account (id int)"},
		{3701, 11, "DROP TABLE dbo.missing"},
		{8115, 16, "SELECT 2147483647 + 1"},
		{8134, 16, "SELECT 1 / 0"},
		{50000, 16, "RAISERROR('mine', 16, 3)"},
		{51234, 16, "THROW 51234, 'thrown', 2"},
	} {
		run(fmt.Sprintf("error %d", c.number), c.text+"\nGO\n", 1, []string{fmt.Sprintf("Msg %d, Level %d, State ", c.number, c.level)}, "-b")
	}
	run("line of an error", "\n\nSELECT * FROM dbo.missing\nGO\n", 0, []string{"Msg 208, Level 16, State 1, ", "Line 3"})
	run("goes on after an error", "SELECT 1 / 0\nGO\nSELECT 7 AS seven\nGO\n", 0, []string{"Msg 8134", "seven\n", "7\n"})
	output, code := sqlcmd("wrong", "SELECT 1\nGO\n")
	judge("wrong password", output, code, 1, []string{"Login failed for user"})
}

func others() {
	run("several result sets", "SELECT 1 AS a; SELECT N'two' AS b, 2 AS c\nGO\n", 0, []string{"a\n", "1\n", "b|c\n", "two|2\n"}, "-b")
	run("print", "PRINT 'a message'\nGO\n", 0, []string{"a message\n"}, "-b")
	run("GO n", "SELECT 3 AS n\nGO 3\n", 0, []string{"\n3\n", "\n3\n", "\n3\n"}, "-b")
	run("variables", ":setvar what 41\nDECLARE @n int = $(what); SELECT @n + 1 AS answer\nGO\n", 0, []string{"answer\n", "42\n"}, "-b")
	run("encrypted", "SELECT 1 AS encrypted\nGO\n", 0, []string{"encrypted\n", "\n1\n"}, "-b", "-N", "true")
	run("query of the command line", "", 0, []string{"x\n", "5\n"}, "-Q", "SELECT 5 AS x")
	began := time.Now()
	output, _ := sqlcmd(os.Getenv("GHOSTLIGHT_PASSWORD"), "WAITFOR DELAY '00:00:20'\nGO\n", "-t", "1")
	if took := time.Since(began); took < 700*time.Millisecond || took > 10*time.Second {
		fail("query timeout", fmt.Sprintf("%v: %.300s", took, output))
	} else {
		passed++
	}
	run("waits as long as told, clean up", "WAITFOR DELAY '00:00:01'\nGO\nDROP TABLE dbo.sqlcmd_account\nGO\n", 0, nil, "-b")
}

func main() {
	run("select", "SELECT 1 AS one\nGO\n", 0, []string{"one\n", "---", "\n1\n"}, "-b")
	everyType()
	transactions()
	errorsToo()
	others()
	fmt.Printf("%d operations, %d passed, %d failed\n", passed+failed, passed, failed)
	if failed > 0 || passed == 0 {
		os.Exit(1)
	}
}
