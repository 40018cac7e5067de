//! Bytes that no honest peer sends: each gets an error, none a panic, a hang or much memory.

use tds::*;
use types::{SqlType, Value};

/// A valid payload of every kind of message.
fn corpus() -> Vec<(PacketType, Vec<u8>)> {
    let mut prelogin = Vec::new();
    Prelogin {
        version: Some(ProductVersion::SERVER),
        encryption: Some(Encryption::On),
        instance: Some(b"MSSQLServer\0".to_vec()),
        trace_id: Some(TraceId { connection: [1; 16], activity: [2; 16], sequence: 3 }),
        nonce: Some([4; 32]),
        ..Prelogin::default()
    }
    .encode(&mut prelogin);
    let mut login = Vec::new();
    Login7 {
        tds_version: 0x7400_0004,
        user_name: "sa".into(),
        password: "secret".into(),
        database: "master".into(),
        features: vec![Feature { id: 0x0A, data: vec![] }, Feature { id: 1, data: vec![0; 9] }],
        ..Login7::default()
    }
    .encode(&mut login);
    let mut batch = Vec::new();
    encode_batch(
        &Headers { activity: Some(([1; 16], 1)), ..Headers::new(1) },
        "select 1",
        &mut batch,
    );
    let mut transaction = Vec::new();
    let next = Begin { isolation: Some(Isolation::Snapshot), name: "n".into() };
    TransactionCommand::Commit { name: "t".into(), then: Some(next) }
        .encode(&Headers::new(1), &mut transaction);
    vec![
        (PacketType::Prelogin, prelogin),
        (PacketType::Login, login),
        (PacketType::Batch, batch),
        (PacketType::Rpc, rpc()),
        (PacketType::Transaction, transaction),
        (PacketType::Response, response()),
    ]
}

/// A value of every type.
fn values() -> Vec<(SqlType, Value)> {
    use types::{DateTime, DateTime2, DateTimeOffset, Decimal, SmallDateTime};
    let utc = DateTime2 { days: 700_000, ticks: 5_000_000 };
    vec![
        (SqlType::Bit, Value::Bit(true)),
        (SqlType::TinyInt, Value::TinyInt(1)),
        (SqlType::SmallInt, Value::SmallInt(1)),
        (SqlType::Int, Value::Int(1)),
        (SqlType::BigInt, Value::BigInt(1)),
        (SqlType::decimal(20, 4), Value::Decimal(Decimal::from_i64(1))),
        (SqlType::Money, Value::Money(1)),
        (SqlType::SmallMoney, Value::Money(1)),
        (SqlType::Real, Value::Real(1.0)),
        (SqlType::Float, Value::Float(1.0)),
        (SqlType::Date, Value::Date(1)),
        (SqlType::Time(3), Value::Time(10_000)),
        (SqlType::DateTime, Value::DateTime(DateTime { days: 1, ticks: 1 })),
        (SqlType::SmallDateTime, Value::SmallDateTime(SmallDateTime { days: 1, minutes: 1 })),
        (SqlType::DateTime2(7), Value::DateTime2(utc)),
        (SqlType::DateTimeOffset(7), Value::DateTimeOffset(DateTimeOffset { utc, offset: 60 })),
        (SqlType::Char(2), Value::varchar("ab")),
        (SqlType::varchar(10), Value::varchar("ab")),
        (SqlType::NChar(2), Value::nvarchar("ab")),
        (SqlType::nvarchar(10), Value::nvarchar("ab")),
        (SqlType::Binary(2), Value::varbinary(b"ab")),
        (SqlType::varbinary(10), Value::varbinary(b"ab")),
        (SqlType::UniqueIdentifier, Value::Guid([1; 16])),
        (SqlType::VARCHAR_MAX, Value::varchar("large")),
        (SqlType::NVARCHAR_MAX, Value::nvarchar("large")),
        (SqlType::VARBINARY_MAX, Value::varbinary(b"large")),
        (SqlType::Int, Value::Null),
    ]
}

fn rpc() -> Vec<u8> {
    let parameters =
        values().into_iter().map(|(sql, v)| RpcParameter::input("@p", sql, v)).collect();
    let call = RpcCall {
        procedure: Procedure::Name("sp_executesql".into()),
        options: RpcOptions(0),
        parameters,
    };
    let mut out = Vec::new();
    encode_rpc(&Headers::new(1), &[call.clone(), call], &mut out).expect("valid values");
    out
}

fn response() -> Vec<u8> {
    let mut out = Vec::new();
    EnvChange::Database { new: "a".into(), old: "b".into() }.encode(&mut out);
    LoginAck::new(TdsVersion::V7_4, ProductVersion::SERVER).encode(&mut out);
    encode_notice(&base::SqlError::raw(1, 16, 1, "text".into()), "s", &mut out);
    let values = values();
    let columns: Vec<_> =
        values.iter().map(|(sql, _)| Column::new("c", *sql, ColumnFlags::NULLABLE)).collect();
    encode_columns(&columns, TdsVersion::V7_4, &mut out);
    let row: Vec<Value> = values.into_iter().map(|(_, v)| v).collect();
    let rows = RowEncoder::new(&columns, TdsVersion::V7_4);
    rows.encode(&row, &mut out).expect("valid values");
    rows.encode(&vec![Value::Null; row.len()], &mut out).expect("valid values");
    encode_return_status(0, &mut out);
    DoneToken::new(DoneKind::Done, DoneStatus::FINAL).encode(&mut out);
    out
}

/// Decodes a payload to its end as the peer would; how many parts it had.
fn decode(kind: PacketType, payload: &[u8]) -> TdsResult<usize> {
    let m = Message { kind, status: PacketStatus::EOM, spid: 0, payload: payload.to_vec() };
    match kind {
        PacketType::Prelogin => Prelogin::decode(payload).map(|_| 1),
        PacketType::Login => Login7::decode(payload).map(|_| 1),
        PacketType::Response => {
            let mut reader = ResponseReader::new();
            reader.feed(payload);
            let mut tokens = 0;
            while reader.next_token()?.is_some() {
                tokens += 1;
            }
            if reader.is_empty() { Ok(tokens) } else { Err(truncated()) }
        }
        _ => match decode_request(&m)? {
            Request::Rpc(mut batch) => {
                let mut calls = 0;
                while batch.next_call()?.is_some() {
                    calls += 1;
                }
                Ok(calls)
            }
            _ => Ok(1),
        },
    }
}

fn truncated() -> TdsError {
    TdsError::Truncated { offset: 0, needed: 1 }
}

#[test]
fn the_corpus_is_valid() {
    let parts: Vec<usize> =
        corpus().iter().map(|(kind, payload)| decode(*kind, payload).unwrap()).collect();
    assert_eq!(parts, [1, 1, 1, 2, 1, 8]);
}

/// Every message cut anywhere is an error, unless it is cut where a shorter one ends.
#[test]
fn every_prefix_is_an_error_or_a_shorter_message() {
    for (kind, payload) in corpus() {
        let whole = decode(kind, &payload).unwrap();
        let mut shorter = 0;
        for n in 0..payload.len() {
            match decode(kind, &payload[..n]) {
                Ok(parts) => {
                    shorter += 1;
                    assert!(parts <= whole, "{kind:?} cut at {n}");
                }
                Err(e) => {
                    let _ = base::SqlError::from(e);
                }
            }
        }
        // A batch may end after every character, an RPC after every parameter.
        let allowed = match kind {
            PacketType::Batch => "select 1".len(),
            PacketType::Rpc => 2 * values().len() + 3,
            PacketType::Transaction => 1,
            PacketType::Response => whole,
            _ => 0,
        };
        assert!(shorter <= allowed, "{kind:?}: {shorter} prefixes were accepted");
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n.max(1)
    }
}

/// Some bytes altered, removed, inserted or copied.
fn mutated(payload: &[u8], random: &mut Random) -> Vec<u8> {
    const TELLING: [u8; 10] = [0, 1, 2, 0x7F, 0x80, 0xFE, 0xFF, 0xE7, 0xA7, 0xF3];
    let mut bytes = payload.to_vec();
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len());
        match random.below(5) {
            0 if !bytes.is_empty() => bytes[at] = random.below(256) as u8,
            1 if !bytes.is_empty() => bytes[at] = TELLING[random.below(TELLING.len())],
            2 if !bytes.is_empty() => bytes[at] ^= 1 << random.below(8),
            3 => {
                let end = (at + random.below(9)).min(bytes.len());
                bytes.drain(at..end);
            }
            _ => {
                let end = (at + random.below(40)).min(bytes.len());
                let copy = bytes[at..end].to_vec();
                let to = random.below(bytes.len() + 1);
                bytes.splice(to..to, copy);
            }
        }
    }
    bytes
}

#[test]
fn altered_bytes_never_panic() {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let (mut accepted, mut refused) = (0, 0);
    for (kind, payload) in corpus() {
        for _ in 0..20_000 {
            match decode(kind, &mutated(&payload, &mut random)) {
                Ok(_) => accepted += 1,
                Err(_) => refused += 1,
            }
        }
    }
    assert!(accepted > 1_000 && refused > 10_000, "{accepted} accepted, {refused} refused");
}

#[test]
fn altered_packets_never_panic() {
    let mut random = Random(42);
    for (kind, payload) in corpus() {
        let mut packets = Vec::new();
        frame(kind, PacketStatus::default(), 512, payload, &mut packets);
        for _ in 0..2_000 {
            let mut assembler = PacketAssembler::new(4096);
            assembler.feed(&mutated(&packets, &mut random));
            while let Ok(Some(m)) = assembler.next_message() {
                assert!(m.payload.len() <= 4096);
                let _ = decode(m.kind, &m.payload);
            }
        }
    }
}

/// A parameter of an RPC from its type on, as the server sees it.
fn parameter(bytes: &[u8]) -> TdsResult<RpcParameter> {
    let mut payload = Vec::new();
    encode_rpc(&Headers::new(0), &[], &mut payload).expect("no values");
    payload.extend_from_slice(&[0xFF, 0xFF, 10, 0, 0, 0]);
    payload.extend_from_slice(&[1, b'p', 0, 0]);
    payload.extend_from_slice(bytes);
    let m = Message { kind: PacketType::Rpc, status: PacketStatus::EOM, spid: 0, payload };
    let Request::Rpc(mut batch) = decode_request(&m)? else { panic!("an RPC") };
    Ok(batch.next_call()?.expect("a call").parameters.remove(0))
}

#[test]
fn a_bad_parameter_has_its_number_and_error() {
    let cases: &[(&str, &[u8], i32)] = &[
        ("no such type", &[0x99, 0], 8009),
        ("an int of 3 bytes", &[0x26, 3, 3, 0, 0, 0], 8016),
        ("a short int", &[0x26, 4, 2, 0, 0], 8016),
        ("odd UTF-16", &[0xE7, 8, 0, 0, 0, 0, 0, 0, 3, 0, 1, 2, 3], 8016),
        ("longer than declared", &[0xA5, 1, 0, 2, 0, 1, 2], 8016),
        ("varbinary(8001)", &[0xA5, 0x41, 0x1F, 0xFF, 0xFF], 8016),
        ("precision 39", &[0x6A, 17, 39, 0, 0], 8017),
        ("scale above precision", &[0x6A, 5, 4, 5, 0], 8017),
        ("time(8)", &[0x29, 8, 0], 8017),
        ("100 in decimal(2,0)", &[0x6A, 5, 2, 0, 5, 1, 100, 0, 0, 0], 8023),
        ("hour 24", &[0x29, 0, 3, 0x80, 0x51, 0x01], 8023),
        ("year 10000", &[0x28, 3, 0xDB, 0xB9, 0x37], 8023),
        ("NaN", &[0x6D, 4, 4, 0, 0, 0xC0, 0x7F], 8023),
        ("1752", &[0x6F, 8, 8, 0, 0, 0xFF, 0xFF, 0, 0, 0, 0], 8023),
        (
            "chunks that do not add up",
            &[0xA5, 0xFF, 0xFF, 9, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 65, 0, 0, 0, 0],
            8007,
        ),
        (
            "a chunk of 4 GB",
            &[0xA5, 0xFF, 0xFF, 9, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 65],
            4002,
        ),
        ("a table that ends early", &[0xF3, 0, 0, 0], 4002),
        ("a variant that ends early", &[0x62, 9, 0, 0, 0, 6, 0, 0, 0, 0x38, 0, 1], 4002),
        ("a variant of text", &[0x62, 9, 0, 0, 0, 3, 0, 0, 0, 0x23, 0, 65], 8016),
        ("a variant of a variant", &[0x62, 9, 0, 0, 0, 3, 0, 0, 0, 0x62, 0, 65], 8016),
        ("a variant of a max type", &[0x62, 9, 0, 0, 0, 4, 0, 0, 0, 0xA5, 2, 255, 255], 8016),
        ("a variant's int of one byte", &[0x62, 9, 0, 0, 0, 3, 0, 0, 0, 0x38, 0, 1], 8016),
        (
            "an int with a description",
            &[0x62, 9, 0, 0, 0, 7, 0, 0, 0, 0x38, 1, 4, 1, 0, 0, 0],
            8016,
        ),
        ("a description beyond the end", &[0x62, 9, 0, 0, 0, 2, 0, 0, 0, 0x38, 9], 8016),
        ("a variant of 1 MB", &[0x62, 9, 0, 0, 0, 0, 0, 16, 0, 0x38, 0, 1], 4002),
        ("CLR", &[0xF0, 0, 0, 0], 40517),
        ("nothing", &[], 4002),
    ];
    for (what, bytes, number) in cases {
        let e = parameter(bytes).expect_err(what);
        assert_eq!(base::SqlError::from(e.clone()).number(), *number, "{what}: {e}");
    }
    let e = base::SqlError::from(parameter(&[0x99]).expect_err("no such type"));
    assert!(e.text().contains("Parameter 1 (\"p\"): Data type 0x99 is unknown"), "{e}");
}

/// Forms that we never write and old clients send.
#[test]
fn legacy_types_are_understood() {
    let nchar = |s: &str| Value::nvarchar(s);
    let cases: Vec<(&[u8], SqlType, Value)> = vec![
        (&[0x38, 1, 0, 0, 0], SqlType::Int, Value::Int(1)),
        (&[0x30, 255], SqlType::TinyInt, Value::TinyInt(255)),
        (&[0x32, 1], SqlType::Bit, Value::Bit(true)),
        (&[0x1F], SqlType::Int, Value::Null),
        (&[0x27, 5, 2, b'a', b'b'], SqlType::varchar(5), Value::varchar("ab")),
        (&[0x25, 5, 0], SqlType::varbinary(5), Value::Null),
        (&[0x24, 16, 0], SqlType::UniqueIdentifier, Value::Null),
        (
            &[0x63, 0, 0, 0, 0x80, 9, 4, 0xD0, 0, 52, 2, 0, 0, 0, b'x', 0],
            SqlType::NVARCHAR_MAX,
            nchar("x"),
        ),
        (&[0x22, 9, 0, 0, 0, 255, 255, 255, 255], SqlType::VARBINARY_MAX, Value::Null),
        (&[0xE7, 0, 0, 9, 4, 0xD0, 0, 52, 0, 0], SqlType::nvarchar(1), nchar("")),
        // Chunks of unknown total.
        (
            &[
                0xA5, 0xFF, 0xFF, 0xFE, 255, 255, 255, 255, 255, 255, 255, 1, 0, 0, 0, b'a', 2, 0,
                0, 0, b'b', b'c', 0, 0, 0, 0,
            ],
            SqlType::VARBINARY_MAX,
            Value::varbinary(b"abc"),
        ),
        // A decimal with fewer bytes than its type has.
        (
            &[0x6C, 17, 38, 0, 2, 0, 7],
            SqlType::decimal(38, 0),
            Value::Decimal(types::Decimal::from_i64(-7)),
        ),
        // varchar in a UTF-8 collation comes as characters, also with flags that no name has.
        (&[0xA7, 8, 0, 9, 4, 0xD0, 0x04, 0, 2, 0, 0xC3, 0xA9], SqlType::varchar(8), nchar("é")),
    ];
    for (bytes, sql, value) in cases {
        let p = parameter(bytes).expect("a legacy form");
        assert_eq!((p.info.sql, p.value), (sql, value), "{bytes:02X?}");
    }
}

#[test]
fn a_message_has_a_limit_and_one_type() {
    let mut assembler = PacketAssembler::new(1000);
    let part = |kind: u8, status: u8, n: usize| {
        let mut packet = vec![kind, status, 0, 0, 0, 0, 1, 0];
        packet.resize(8 + n, 0);
        let length = u16::try_from(packet.len()).unwrap();
        packet[2..4].copy_from_slice(&length.to_be_bytes());
        packet
    };
    assembler.feed(&part(1, 0, 600));
    assert_eq!(assembler.next_message(), Ok(None));
    assembler.feed(&part(1, 1, 600));
    assert_eq!(assembler.next_message(), Err(TdsError::MessageTooLong { limit: 1000 }));

    let mut assembler = PacketAssembler::new(1000);
    assembler.feed(&part(1, 0, 10));
    assembler.feed(&part(3, 1, 10));
    assert_eq!(assembler.next_message(), Err(TdsError::PacketType { found: 3 }));

    let mut assembler = PacketAssembler::new(1000);
    assembler.feed(&[1, 1, 0, 7, 0, 0, 1, 0]);
    assert_eq!(assembler.next_message(), Err(TdsError::PacketLength { length: 7 }));
}

/// A client that changes its mind inside a message sends an attention and no rest.
#[test]
fn an_attention_ends_an_unfinished_message() {
    let mut assembler = PacketAssembler::new(1000);
    assembler.feed(&[1, 0, 0, 9, 0, 0, 1, 0, 77]);
    assembler.feed(&[6, 1, 0, 8, 0, 0, 1, 0]);
    assembler.feed(&[1, 1, 0, 9, 0, 0, 1, 0, 88]);
    assert_eq!(assembler.next_message().unwrap().unwrap().kind, PacketType::Attention);
    assert_eq!(assembler.next_message().unwrap().unwrap().payload, [88]);
}

/// The first record of raw TLS may come with the last wrapped one.
#[test]
fn bytes_behind_the_handshake_are_handed_over() {
    let mut assembler = PacketAssembler::new(1000);
    assembler.feed(&[0x12, 1, 0, 9, 0, 0, 1, 0, 5, 0x17, 3, 3, 0]);
    assert_eq!(assembler.next_message().unwrap().unwrap().payload, [5]);
    assert_eq!(assembler.take_rest(), [0x17, 3, 3, 0]);
    assert!(!assembler.is_midway());
}

/// In every RPC at most 2,100 parameters; names of 128 characters are no separators.
#[test]
fn names_and_counts_at_their_limits() {
    let long = format!("@{}", "x".repeat(127));
    let call = |n: usize, name: &str| RpcCall {
        procedure: Procedure::Name("p".into()),
        options: RpcOptions(0),
        parameters: vec![RpcParameter::input(name, SqlType::Int, Value::Int(1)); n],
    };
    let decoded = |call: RpcCall| {
        let mut out = Vec::new();
        encode_rpc(&Headers::new(0), &[call], &mut out).expect("ints");
        decode(PacketType::Rpc, &out)
    };
    assert_eq!(decoded(call(3, &long)), Ok(1));
    assert!(matches!(decoded(call(1, &format!("{long}x"))), Err(TdsError::Parameter { .. })));
    assert_eq!(decoded(call(2100, "")), Ok(1));
    assert_eq!(decoded(call(2101, "")), Err(TdsError::TooManyParameters));
    let e = base::SqlError::from(TdsError::TooManyParameters);
    assert!(e.number() == 8003 && e.text().contains("2100"));
}

#[test]
fn a_wrong_value_leaves_no_bytes() {
    let columns = [
        Column::new("a", SqlType::Int, ColumnFlags::NULLABLE),
        Column::new("b", SqlType::varchar(2), ColumnFlags::NULLABLE),
    ];
    let rows = RowEncoder::new(&columns, TdsVersion::V7_4);
    let mut out = vec![1];
    assert!(rows.encode(&[Value::Int(1), Value::varchar("abc")], &mut out).is_err());
    assert!(rows.encode(&[Value::varchar("a"), Value::Null], &mut out).is_err());
    assert_eq!(out, [1]);
    // Neighbouring kinds are converted.
    rows.encode(&[Value::SmallInt(1), Value::nvarchar("é")], &mut out).expect("convertible");
    assert_eq!(out, [1, 0xD1, 4, 1, 0, 0, 0, 1, 0, 0xE9]);
}

#[test]
fn what_is_said_of_encryption_is_what_was_measured_with_clients() {
    use Encryption::{NotSupported, Off, On, Required};
    let cases = [
        (Off, Off, Protection::LoginOnly, Required),
        (On, On, Protection::Whole, On),
        (NotSupported, NotSupported, Protection::None, Required),
        (Required, On, Protection::Whole, On),
    ];
    for (wish, offered, outcome, forced) in cases {
        assert_eq!(wish.answer_offered(), offered);
        assert_eq!(wish.outcome(offered), outcome);
        assert_eq!(wish.answer_forced(), forced);
    }
}

#[test]
fn debug_output_hides_passwords() {
    let login =
        Login7 { password: "hush".into(), new_password: "hush".into(), ..Login7::default() };
    assert!(!format!("{login:?}").contains("hush"));
}

/// Procedures are known by number, by name and by qualified name.
#[test]
fn well_known_procedures() {
    for (name, id) in [
        ("sp_executesql", Some(ProcId::ExecuteSql)),
        ("[sys].sp_prepexec", Some(ProcId::PrepExec)),
        ("sys.SP_Unprepare", Some(ProcId::Unprepare)),
        ("[sp_execute]", Some(ProcId::Execute)),
        ("dbo.sp_execute", None),
    ] {
        assert_eq!(Procedure::Name(name.into()).well_known(), id, "{name}");
    }
    for n in 1..=15 {
        assert_eq!(ProcId::from_number(n).unwrap() as u16, n);
    }
    assert_eq!((ProcId::from_number(0), ProcId::from_number(16)), (None, None));
}
