// tedious against a running server: every type, parameters, prepared statements, transactions,
// errors, several result sets, output parameters, cancel, with and without encryption.
//
// Prints a line for each operation that fails; the last line is
// `N operations, N passed, N failed`.

import { Connection, Request, TYPES } from 'tedious';

const { GHOSTLIGHT_HOST, GHOSTLIGHT_PORT, GHOSTLIGHT_USER, GHOSTLIGHT_PASSWORD } = process.env;

let passed = 0;
let failed = 0;

async function run(name, operation) {
  try {
    await operation();
    passed += 1;
  } catch (e) {
    failed += 1;
    console.log(`FAILED ${name}: ${String(e?.message ?? e).slice(0, 300)}`);
  }
}

function plain(value) {
  if (Buffer.isBuffer(value)) return `0x${value.toString('hex')}`;
  if (value instanceof Date) return `${value.toISOString()}+${value.nanosecondsDelta ?? 0}`;
  return value;
}

function same(found, wanted) {
  const [f, w] = [plain(found), plain(wanted)];
  if (!Object.is(f, w)) {
    throw new Error(`${String(f).slice(0, 90)} (${typeof found}) is not ${String(w).slice(0, 90)}`);
  }
}

function connect({ password = GHOSTLIGHT_PASSWORD, database = 'master', encrypt = false, requestTimeout = 15000 } = {}) {
  const connection = new Connection({
    server: GHOSTLIGHT_HOST,
    authentication: { type: 'default', options: { userName: GHOSTLIGHT_USER, password } },
    options: {
      port: Number(GHOSTLIGHT_PORT), database, encrypt, requestTimeout, trustServerCertificate: true,
      rowCollectionOnRequestCompletion: false, useUTC: true, connectTimeout: 20000,
    },
  });
  return new Promise((resolve, reject) => {
    connection.connect((e) => (e ? reject(e) : resolve(connection)));
  });
}

// Runs a request; gives { sets, columns, outputs, rowCount }.
function send(connection, how, text, parameters = [], whenSent = () => {}) {
  return new Promise((resolve, reject) => {
    const result = { sets: [], columns: [], outputs: {}, status: undefined };
    const request = new Request(text, (e, rowCount) => (e ? reject(e) : resolve({ ...result, rowCount })));
    request.on('columnMetadata', (columns) => {
      result.sets.push([]);
      result.columns.push(columns.map((c) => c.colName));
    });
    request.on('row', (row) => result.sets.at(-1).push(row.map((c) => c.value)));
    request.on('returnValue', (name, value) => { result.outputs[name] = value; });
    request.on('doneProc', (_count, _more, status) => { result.status = status; });
    for (const { name, type, value, output, options } of parameters) {
      if (output) request.addOutputParameter(name, type, value, options);
      else request.addParameter(name, type, value, options);
    }
    connection[how](request);
    whenSent(request);
  });
}

const batch = (connection, text) => send(connection, 'execSqlBatch', text);
const sql = (connection, text, parameters) => send(connection, 'execSql', text, parameters);

async function failsWith(number, severity, operation) {
  try {
    await operation();
  } catch (e) {
    const inner = e.cause ?? e;
    same(e.number ?? inner.number, number);
    if (severity !== undefined) same(e.class ?? inner.class, severity);
    return e;
  }
  throw new Error(`no error ${number}`);
}

// Written by the one name and read by the other.
const at = (text, s = 0) => Object.assign(new Date(text), s ? { nanosecondsDelta: s, nanosecondDelta: s } : {});
const D = { precision: 38, scale: 10 };
// column type, tedious type, options, values, or [given, wanted]
const COLUMNS = [
  ['bit', TYPES.Bit, {}, [true, false]],
  ['tinyint', TYPES.TinyInt, {}, [0, 255]],
  ['smallint', TYPES.SmallInt, {}, [-32768, 32767]],
  ['int', TYPES.Int, {}, [-2147483648, 2147483647]],
  ['bigint', TYPES.BigInt, {}, [['-9007199254740991', '-9007199254740991'], [9223372036854775807n, '9223372036854775807']]],
  ['decimal(38,10)', TYPES.Decimal, D, [1234567.0123456789, -0.0000000001]],
  ['numeric(9,2)', TYPES.Numeric, { precision: 9, scale: 2 }, [9999999.99, -0.01]],
  ['money', TYPES.Money, {}, [12345678.1234, -0.0001]],
  ['smallmoney', TYPES.SmallMoney, {}, [214748.3647, -214748.3648]],
  ['real', TYPES.Real, {}, [1.5, -0.25]],
  ['float', TYPES.Float, {}, [1.7976931348623157e308, -2.2250738585072014e-308]],
  ['date', TYPES.Date, {}, [at('0001-01-01T00:00:00Z'), at('9999-12-31T00:00:00Z')]],
  ['time(7)', TYPES.Time, { scale: 7 }, [[at('1970-01-01T00:00:00Z'), at('1970-01-01T00:00:00Z')], [at('1970-01-01T23:59:59.999Z'), at('1970-01-01T23:59:59.999Z')]]],
  ['datetime', TYPES.DateTime, {}, [at('1753-01-01T00:00:00Z'), at('2024-02-29T12:34:56.790Z')]],
  ['smalldatetime', TYPES.SmallDateTime, {}, [at('1900-01-01T00:00:00Z'), at('2079-06-06T23:59:00Z')]],
  ['datetime2(7)', TYPES.DateTime2, { scale: 7 }, [at('0001-01-01T00:00:00Z'), at('9999-12-31T23:59:59.999Z', 0.0009999)]],
  ['datetime2(3)', TYPES.DateTime2, { scale: 3 }, [at('2024-02-29T12:34:56.789Z')]],
  ['datetimeoffset(3)', TYPES.DateTimeOffset, { scale: 3 }, [at('2024-02-29T12:34:56.789Z')]],
  ['char(5)', TYPES.Char, { length: 5 }, [['abc', 'abc  '], "x'y  "]],
  ['varchar(20)', TYPES.VarChar, {}, ['', 'Grün €']],
  ['varchar(max)', TYPES.VarChar, { length: Infinity }, ['x'.repeat(200000), 'y']],
  ['nchar(4)', TYPES.NChar, { length: 4 }, [['ab', 'ab  '], 'Ωж漢字']],
  ['nvarchar(20)', TYPES.NVarChar, {}, ['', "'Ωж漢字😀"]],
  ['nvarchar(max)', TYPES.NVarChar, { length: Infinity }, ['漢'.repeat(100000), 'z']],
  ['binary(4)', TYPES.Binary, { length: 4 }, [Buffer.from([0, 1, 0xfe, 0xff]), Buffer.from('abcd')]],
  ['varbinary(20)', TYPES.VarBinary, {}, [Buffer.alloc(0), Buffer.from("'\0\xff", 'latin1')]],
  ['varbinary(max)', TYPES.VarBinary, { length: Infinity }, [Buffer.alloc(200000, 'abc'), Buffer.from('q')]],
  ['uniqueidentifier', TYPES.UniqueIdentifier, {}, ['00112233-4455-6677-8899-AABBCCDDEEFF', '00000000-0000-0000-0000-000000000000']],
];

async function everyType(connection, suffix) {
  for (const [i, [sqlType, type, options, values]] of COLUMNS.entries()) {
    const table = `dbo.tedious_type_${suffix}_${i}`;
    await run(`create ${sqlType}`, async () => {
      await batch(connection, `DROP TABLE IF EXISTS ${table}`);
      await batch(connection, `CREATE TABLE ${table} (id int NOT NULL PRIMARY KEY, v ${sqlType} NULL)`);
    });
    for (const [id, value] of [...values, null].entries()) {
      const [given, wanted] = Array.isArray(value) ? value : [value, value];
      await run(`write ${sqlType} ${id}`, async () => {
        const parameters = [{ name: 'id', type: TYPES.Int, value: id }, { name: 'v', type, value: given, options }];
        same((await sql(connection, `INSERT INTO ${table} (id, v) VALUES (@id, @v)`, parameters)).rowCount, 1);
      });
      await run(`read ${sqlType} ${id}`, async () => {
        const { sets } = await sql(connection, `SELECT v FROM ${table} WHERE id = @id`, [{ name: 'id', type: TYPES.Int, value: id }]);
        same(sets.length, 1);
        same(sets[0].length, 1);
        same(sets[0][0][0], wanted);
      });
    }
    await run(`count ${sqlType}`, async () => {
      same((await batch(connection, `SELECT COUNT(*) FROM ${table}`)).sets[0][0][0], values.length + 1);
      same((await batch(connection, `SELECT COUNT(*) FROM ${table} WHERE v IS NULL`)).sets[0][0][0], 1);
      await batch(connection, `DROP TABLE ${table}`);
    });
  }
}

function step(connection, method, ...more) {
  return new Promise((resolve, reject) => {
    connection[method]((e) => (e ? reject(e) : resolve()), ...more);
  });
}

async function transactions(connection, watcher) {
  const count = async (c, wanted) => same((await batch(c, 'SELECT COUNT(*) FROM dbo.tedious_account')).sets[0][0][0], wanted);
  const insert = (id) => batch(connection, `INSERT INTO dbo.tedious_account (id, amount) VALUES (${id}, 10)`);
  await run('prepare', async () => {
    await batch(watcher, 'DROP TABLE IF EXISTS dbo.tedious_account');
    await batch(watcher, 'CREATE TABLE dbo.tedious_account (id int NOT NULL PRIMARY KEY, '
      + 'amount int NOT NULL CONSTRAINT ck_tedious_amount CHECK (amount >= 0))');
  });
  await run('rollback', async () => {
    await step(connection, 'beginTransaction');
    await insert(1);
    same((await batch(connection, 'SELECT @@TRANCOUNT')).sets[0][0][0], 1);
    await count(connection, 1);
    await step(connection, 'rollbackTransaction');
    await count(watcher, 0);
  });
  await run('commit', async () => {
    await step(connection, 'beginTransaction', 'named');
    await insert(1);
    await step(connection, 'commitTransaction');
    await count(watcher, 1);
  });
  await run('savepoint', async () => {
    await step(connection, 'beginTransaction');
    await insert(2);
    await step(connection, 'saveTransaction', 'middle');
    await insert(3);
    await count(connection, 3);
    await step(connection, 'rollbackTransaction', 'middle');
    await count(connection, 2);
    await step(connection, 'commitTransaction');
    await count(watcher, 2);
  });
  await run('update counts', async () => {
    same((await batch(watcher, 'UPDATE dbo.tedious_account SET amount = amount + 1')).rowCount, 2);
    same((await batch(watcher, 'DELETE FROM dbo.tedious_account WHERE id = 2')).rowCount, 1);
    same((await batch(watcher, 'UPDATE dbo.tedious_account SET amount = 0 WHERE id = 77')).rowCount, 0);
  });
}

const ERRORS = [
  [102, 15, 'SELECT * FORM'],
  [137, 15, 'SELECT @undeclared'],
  [207, 16, 'SELECT nothing FROM dbo.tedious_account'],
  [208, 16, 'SELECT * FROM dbo.missing'],
  [245, 16, "SELECT CAST('abc' AS int)"],
  [515, 16, 'INSERT INTO dbo.tedious_account (id, amount) VALUES (9, NULL)'],
  [547, 16, 'INSERT INTO dbo.tedious_account (id, amount) VALUES (9, -1)'],
  [2627, 14, 'INSERT INTO dbo.tedious_account (id, amount) VALUES (1, 1)'],
  [2714, 16, 'CREATE TABLE dbo.tedious_account (id int)'],
  [3701, 11, 'DROP TABLE dbo.missing'],
  [8115, 16, 'SELECT 2147483647 + 1'],
  [8134, 16, 'SELECT 1 / 0'],
  [50000, 16, "RAISERROR('mine', 16, 3)"],
  [51234, 16, "THROW 51234, 'thrown', 2"],
];

async function errors(connection) {
  for (const [number, severity, text] of ERRORS) {
    await run(`error ${number}`, () => failsWith(number, severity, () => batch(connection, text)));
  }
  await run('line of an error', async () => {
    const e = await failsWith(208, 16, () => batch(connection, 'SELECT 1\n\nSELECT * FROM dbo.missing'));
    same(e.lineNumber, 3);
  });
  await run('goes on after errors', async () => same((await batch(connection, 'SELECT 1')).sets[0][0][0], 1));
  await run('wrong password', async () => {
    try {
      await connect({ password: 'wrong' });
    } catch (e) {
      same(e.code, 'ELOGIN');
      same(/Login failed for user/.test(e.message), true);
      return;
    }
    throw new Error('let in');
  });
}

async function severalResults(connection) {
  await run('several result sets', async () => {
    const { sets, columns } = await batch(connection, "SELECT 1 AS a; SELECT N'two' AS b, 2 AS c; SELECT 3");
    same(JSON.stringify(sets), '[[[1]],[["two",2]],[[3]]]');
    same(JSON.stringify(columns), '[["a"],["b","c"],[""]]');
  });
  await run('prepared statement', async () => {
    const found = [];
    const request = new Request('SELECT @n + 1', () => {});
    request.addParameter('n', TYPES.Int);
    request.on('row', (row) => found.push(row[0].value));
    await new Promise((resolve, reject) => {
      request.once('prepared', resolve);
      request.once('error', reject);
      connection.prepare(request);
    });
    for (let n = 0; n < 50; n += 1) {
      await new Promise((resolve, reject) => {
        request.userCallback = (e) => (e ? reject(e) : resolve());
        request.callback = request.userCallback;
        connection.execute(request, { n });
      });
    }
    same(JSON.stringify(found), JSON.stringify(Array.from({ length: 50 }, (_, n) => n + 1)));
    await new Promise((resolve, reject) => {
      request.userCallback = (e) => (e ? reject(e) : resolve());
      request.callback = request.userCallback;
      connection.unprepare(request);
    });
  });
  await run('procedure with an output parameter', async () => {
    await batch(connection, 'DROP PROCEDURE IF EXISTS dbo.tedious_add');
    await batch(connection, 'CREATE PROCEDURE dbo.tedious_add @a int, @b int OUTPUT AS SET @b = @a + 1; SELECT @a AS a');
    const parameters = [{ name: 'a', type: TYPES.Int, value: 41 }, { name: 'b', type: TYPES.Int, output: true }];
    const { sets, outputs, status } = await send(connection, 'callProcedure', 'dbo.tedious_add', parameters);
    same(sets[0][0][0], 41);
    same(outputs.b, 42);
    same(status, 0);
    await batch(connection, 'DROP PROCEDURE dbo.tedious_add');
  });
  await run('reset of the connection', () => step(connection, 'reset'));
}

async function tables(connection) {
  await run('table type and procedure', async () => {
    await batch(connection, 'DROP PROCEDURE IF EXISTS dbo.tedious_table; DROP TYPE IF EXISTS dbo.tedious_pairs');
    await batch(connection, 'CREATE TYPE dbo.tedious_pairs AS TABLE (id int NOT NULL PRIMARY KEY, name nvarchar(20), big varchar(max))');
    await batch(connection, `CREATE PROCEDURE dbo.tedious_table @p dbo.tedious_pairs READONLY, @n int AS
      SELECT id + @n, name, CAST(LEN(big) AS int) FROM @p ORDER BY id`);
  });
  const columns = [
    { name: 'id', type: TYPES.Int }, { name: 'name', type: TYPES.NVarChar, length: 20 },
    { name: 'big', type: TYPES.VarChar, length: Infinity },
  ];
  const rows = [[2, 'zwölf', 'x'.repeat(9000)], [1, null, null]];
  const wanted = '[[11,null,null],[12,"zwölf",9000]]';
  const table = (of) => ({ name: 'p', type: TYPES.TVP, value: { schema: 'dbo', name: 'tedious_pairs', columns, rows: of } });
  const added = { name: 'n', type: TYPES.Int, value: 10 };
  await run('table to a procedure', async () => {
    const { sets } = await send(connection, 'callProcedure', 'dbo.tedious_table', [table(rows), added]);
    same(JSON.stringify(sets[0]), wanted);
  });
  await run('table to a batch', async () => {
    const { sets } = await sql(connection, 'SELECT id + @n, name, CAST(LEN(big) AS int) FROM @p ORDER BY id', [table(rows), added]);
    same(JSON.stringify(sets[0]), wanted);
  });
  await run('empty table', async () => {
    const { sets } = await send(connection, 'callProcedure', 'dbo.tedious_table', [table([]), added]);
    same(JSON.stringify(sets), '[[]]');
  });
  await run('error 2627 of a table', () => failsWith(2627, 14, () => send(
    connection, 'callProcedure', 'dbo.tedious_table', [table([rows[0], rows[0]]), added],
  )));
  await run('drop the table type', () => batch(connection, 'DROP PROCEDURE dbo.tedious_table; DROP TYPE dbo.tedious_pairs'));
}

async function manyRows(connection) {
  await run('many rows in many packets', async () => {
    await batch(connection, 'DROP TABLE IF EXISTS dbo.tedious_many');
    await batch(connection, 'CREATE TABLE dbo.tedious_many (id int NOT NULL PRIMARY KEY, t nvarchar(100) NOT NULL)');
    const text = (i) => `row ${i} ${'é'.repeat(60)}`;
    for (let i = 0; i < 300; i += 1) {
      await sql(connection, 'INSERT INTO dbo.tedious_many (id, t) VALUES (@i, @t)',
        [{ name: 'i', type: TYPES.Int, value: i }, { name: 't', type: TYPES.NVarChar, value: text(i) }]);
    }
    const { sets } = await batch(connection, 'SELECT id, t FROM dbo.tedious_many ORDER BY id');
    same(JSON.stringify(sets[0]), JSON.stringify(Array.from({ length: 300 }, (_, i) => [i, text(i)])));
    await batch(connection, 'DROP TABLE dbo.tedious_many');
  });
}

async function cancellation(connection) {
  await run('cancelled query', async () => {
    const began = Date.now();
    try {
      await send(connection, 'execSqlBatch', "WAITFOR DELAY '00:00:10'", [], () => setTimeout(() => connection.cancel(), 300));
    } catch (e) {
      same(e.code, 'ECANCEL');
      if (Date.now() - began > 5000) throw new Error('late');
      return;
    }
    throw new Error('not cancelled');
  });
  await run('goes on after a cancelled query', async () => same((await batch(connection, 'SELECT 5')).sets[0][0][0], 5));
  await run('query timeout', async () => {
    const hurried = await connect({ requestTimeout: 500 });
    try {
      await batch(hurried, "WAITFOR DELAY '00:00:10'");
    } catch (e) {
      same(e.code, 'ETIMEOUT');
      same((await batch(hurried, 'SELECT 6')).sets[0][0][0], 6);
      hurried.close();
      return;
    }
    throw new Error('no timeout');
  });
  await run('waits as long as told', async () => {
    const began = Date.now();
    await batch(connection, "WAITFOR DELAY '00:00:01'");
    if (Date.now() - began < 900) throw new Error('did not wait');
  });
}

for (const encrypt of [false, true]) {
  const connection = await connect({ encrypt });
  await run(`select, encrypt ${encrypt}`, async () => same((await batch(connection, 'SELECT 1')).sets[0][0][0], 1));
  await everyType(connection, encrypt);
  connection.close();
}
const [connection, watcher] = [await connect({ encrypt: true }), await connect()];
await transactions(connection, watcher);
await errors(connection);
await severalResults(connection);
await tables(connection);
await manyRows(connection);
await cancellation(connection);
await batch(watcher, 'DROP TABLE IF EXISTS dbo.tedious_account');
connection.close();
watcher.close();
console.log(`${passed + failed} operations, ${passed} passed, ${failed} failed`);
process.exit(failed > 0 || passed === 0 ? 1 : 0);
