import sqlite3, sys, time

path, n = sys.argv[1], int(sys.argv[2])
c = sqlite3.connect(path, isolation_level=None)
c.execute("pragma journal_mode = wal")
c.execute("pragma synchronous = off")
c.execute("create table test (id integer primary key)")
c.execute("insert into test values (0)")
start = time.process_time()
for i in range(n):
    c.execute("update test set id = ? where id = ?", (i + 1, i))
cpu = time.process_time() - start
assert c.execute("select id from test").fetchall() == [(n,)]
print(cpu)
