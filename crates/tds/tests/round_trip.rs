//! Whatever one side says, the other hears: every message and every type, with drawn contents.

use proptest::prelude::*;
use tds::*;
use types::{
    ALL_TYPES, Bytes, DateTime, DateTime2, DateTimeOffset, Decimal, Length, SmallDateTime, SqlType,
    Value, Variant,
};

/// A type with a drawn length, precision or scale.
fn sql_type() -> impl Strategy<Value = SqlType> {
    let strings = (1u16..=4000).prop_flat_map(|n| {
        prop_oneof![
            Just(SqlType::Char(n)),
            Just(SqlType::varchar(n)),
            Just(SqlType::NChar(n)),
            Just(SqlType::nvarchar(n)),
            Just(SqlType::Binary(n)),
            Just(SqlType::varbinary(n)),
        ]
    });
    let decimals = (1u8..=38).prop_flat_map(|p| (Just(p), 0..=p));
    prop_oneof![
        6 => proptest::sample::select(ALL_TYPES).prop_map(heard),
        3 => strings,
        2 => decimals.prop_map(|(p, s)| SqlType::decimal(p, s)),
        2 => (0u8..=7).prop_flat_map(|s| prop_oneof![
            Just(SqlType::Time(s)), Just(SqlType::DateTime2(s)), Just(SqlType::DateTimeOffset(s)),
        ]),
        1 => prop_oneof![
            Just(SqlType::VARCHAR_MAX), Just(SqlType::NVARCHAR_MAX), Just(SqlType::VARBINARY_MAX),
        ],
    ]
}

/// What the other side takes a type for: a rowversion goes as binary(8), xml as its bytes.
fn heard(sent: SqlType) -> SqlType {
    match sent {
        SqlType::RowVersion => SqlType::Binary(8),
        SqlType::Xml => SqlType::VARBINARY_MAX,
        _ => sent,
    }
}

fn ticks(seed: u64, scale: u8) -> u64 {
    let unit = 10u64.pow(u32::from(7 - scale));
    seed % (864_000_000_000 / unit) * unit
}

/// The value of a type that some random numbers stand for.
fn value_of(sql: SqlType, seed: u64, wide: i128, bytes: &[u8]) -> Value {
    let days = (seed % 3_652_059) as i32;
    let dt2 = |scale| DateTime2 { days, ticks: ticks(seed.rotate_left(20), scale) };
    let cut = |n: usize| Bytes::new(&bytes[..bytes.len().min(n)]);
    match sql {
        SqlType::Bit => Value::Bit(seed.is_multiple_of(2)),
        SqlType::TinyInt => Value::TinyInt(seed as u8),
        SqlType::SmallInt => Value::SmallInt(seed as i16),
        SqlType::Int => Value::Int(seed as i32),
        SqlType::BigInt => Value::BigInt(seed as i64),
        SqlType::Decimal { precision, scale } => {
            let m = wide % 10i128.pow(u32::from(precision));
            Value::Decimal(Decimal::new(m, scale).expect("below 10^precision"))
        }
        SqlType::Money => Value::Money(seed as i64),
        SqlType::SmallMoney => Value::Money(i64::from(seed as i32)),
        SqlType::Real => Value::Real(seed as i32 as f32 / 7.0),
        SqlType::Float => Value::Float(seed as i64 as f64 / 7.0),
        SqlType::Date => Value::Date(days),
        SqlType::Time(s) => Value::Time(ticks(seed, s)),
        SqlType::DateTime => Value::DateTime(DateTime {
            days: -53_690 + (seed % 3_012_154) as i32,
            ticks: (seed >> 32) as u32 % 25_920_000,
        }),
        SqlType::SmallDateTime => Value::SmallDateTime(SmallDateTime {
            days: seed as u16,
            minutes: (seed >> 16) as u16 % 1440,
        }),
        SqlType::DateTime2(s) => Value::DateTime2(dt2(s)),
        SqlType::DateTimeOffset(s) => Value::DateTimeOffset(DateTimeOffset {
            utc: dt2(s),
            offset: (seed % 1681) as i16 - 840,
        }),
        SqlType::Char(n) => Value::Char(cut(n.into())),
        SqlType::VarChar(n) => Value::Char(cut(n.limit())),
        SqlType::NChar(n) => Value::NChar(cut(usize::from(n) * 2)),
        SqlType::NVarChar(Length::N(n)) => Value::NChar(cut(usize::from(n) * 2)),
        SqlType::NVarChar(Length::Max) => Value::NChar(cut(usize::MAX)),
        SqlType::Binary(n) => Value::Binary(cut(n.into())),
        SqlType::VarBinary(n) => Value::Binary(cut(n.limit())),
        SqlType::RowVersion => Value::Binary(cut(8)),
        SqlType::UniqueIdentifier => Value::Guid([seed as u8; 16]),
        SqlType::Text | SqlType::NText | SqlType::Image => {
            value_of(sql.modern(), seed, wide, bytes)
        }
        SqlType::Variant => {
            let bases: Vec<_> = ALL_TYPES.iter().filter(|t| Variant::admits(**t)).collect();
            let base = *bases[seed as usize % bases.len()];
            let collations: Vec<_> = types::Collation::first().collect();
            let collation = match base.is_character() {
                true => collations[wide as usize % 2],
                false => collations[0],
            };
            let value = value_of(base, seed / 64, wide / 8, bytes);
            Value::Variant(Variant::new(value, base, collation).expect("a base type").into())
        }
        // Nobody hears it as xml.
        SqlType::Xml => Value::Null,
    }
}

fn typed_value() -> impl Strategy<Value = (SqlType, Value)> {
    let bytes = proptest::collection::vec(any::<[u8; 2]>(), 0..40).prop_map(|v| v.concat());
    (sql_type(), any::<u64>(), any::<i128>(), bytes, 0..5u8).prop_map(
        |(sql, seed, wide, b, null)| {
            let value = if null == 0 { Value::Null } else { value_of(sql, seed, wide, &b) };
            (sql, value)
        },
    )
}

fn message(kind: PacketType, payload: Vec<u8>) -> Message {
    Message { kind, status: PacketStatus::EOM, spid: 0, payload }
}

fn name() -> impl Strategy<Value = String> {
    "[a-zäß日\u{1F600}]{0,20}"
}

proptest! {
    #[test]
    fn parameters((sql, value) in typed_value(), name in name(), output: bool, default: bool) {
        // Text and image have pointers in columns and nowhere else.
        let sql = sql.modern();
        let parameter = RpcParameter { output, default, ..RpcParameter::input(&name, sql, value) };
        let call = RpcCall {
            procedure: Procedure::Id(ProcId::ExecuteSql),
            options: RpcOptions(RpcOptions::WITH_RECOMPILE),
            parameters: vec![parameter.clone(), parameter],
        };
        let named = RpcCall { procedure: Procedure::Name("dbo.p".into()), ..call.clone() };
        let headers = Headers { activity: Some(([7; 16], 9)), ..Headers::new(77) };
        let mut payload = Vec::new();
        encode_rpc(&headers, &[call.clone(), named.clone()], &mut payload).unwrap();
        let m = message(PacketType::Rpc, payload);
        let Ok(Request::Rpc(mut batch)) = decode_request(&m) else { panic!("an RPC") };
        prop_assert_eq!(batch.headers, headers);
        prop_assert_eq!(batch.next_call().unwrap(), Some(call));
        prop_assert!(batch.has_more());
        prop_assert_eq!(batch.next_call().unwrap(), Some(named));
        prop_assert_eq!(batch.next_call().unwrap(), None);
    }

    #[test]
    fn rows_in_packets_of_any_size(
        table in proptest::collection::vec(typed_value(), 0..20),
        packet_size in 512u16..5000,
        piece in 1usize..3000,
    ) {
        let columns: Vec<Column<'_>> = table
            .iter()
            .map(|(sql, _)| Column::new("c", *sql, ColumnFlags::NULLABLE))
            .collect();
        let row: Vec<Value> = table.iter().map(|(_, v)| v.clone()).collect();
        let back = table.first().map(|(sql, v)| ReturnValue {
            ordinal: 3,
            name: "@r".into(),
            of_function: false,
            sql: sql.modern(),
            collation: Column::new("", *sql, ColumnFlags::default()).collation,
            value: v.clone(),
        });
        let mut writer = PacketWriter::new(PacketType::Response, packet_size, 51);
        let mut sent = Vec::new();
        encode_columns(&columns, TdsVersion::V7_4, writer.payload());
        let encoder = RowEncoder::new(&columns, TdsVersion::V7_4);
        for _ in 0..3 {
            encoder.encode(&row, writer.payload()).unwrap();
            writer.flush_full(&mut sent);
        }
        if let Some(back) = &back {
            back.encode(TdsVersion::V7_4, writer.payload()).unwrap();
        }
        DoneToken::new(DoneKind::Proc, DoneStatus::IN_XACT).encode(writer.payload());
        writer.finish(&mut sent);

        let (mut packets, mut reader) = (PacketAssembler::new(1 << 20), ResponseReader::new());
        let (mut tokens, mut last) = (Vec::new(), false);
        for piece in sent.chunks(piece) {
            packets.feed(piece);
            while let Some((header, body)) = packets.next_packet().unwrap() {
                prop_assert!(header.length <= packet_size && !last);
                last = header.status.has(PacketStatus::EOM);
                reader.feed(body);
                while let Some(token) = reader.next_token().unwrap() {
                    tokens.push(token);
                }
            }
        }
        prop_assert!(last && reader.is_empty());
        let mut expected = vec![Token::Columns(columns)];
        expected.extend(std::iter::repeat_n(Token::Row(row), 3));
        expected.extend(back.map(Token::ReturnValue));
        expected.push(Token::Done(DoneToken::new(DoneKind::Proc, DoneStatus::IN_XACT)));
        prop_assert_eq!(tokens, expected);
    }

    #[test]
    fn messages_in_packets_of_any_size(
        texts in proptest::collection::vec("\\PC{0,2000}", 1..4),
        packet_size in 512u16..5000,
        piece in 1usize..3000,
    ) {
        let mut sent = Vec::new();
        for text in &texts {
            let mut payload = Vec::new();
            encode_batch(&Headers::new(5), text, &mut payload);
            let reset = PacketStatus::RESET_CONNECTION;
            frame(PacketType::Batch, reset, packet_size, payload, &mut sent);
        }
        let mut packets = PacketAssembler::new(1 << 20);
        let mut heard = Vec::new();
        for piece in sent.chunks(piece) {
            packets.feed(piece);
            while let Some(m) = packets.next_message().unwrap() {
                prop_assert!(m.status.has(PacketStatus::RESET_CONNECTION));
                let Ok(Request::Batch { text, .. }) = decode_request(&m) else { panic!("a batch") };
                heard.push(text);
                packets.recycle(m.payload);
            }
        }
        prop_assert_eq!(heard, texts);
    }

    #[test]
    fn logins(
        texts in proptest::collection::vec(name(), 10),
        numbers in any::<[u32; 6]>(),
        flags in any::<[u8; 4]>(),
        features in proptest::collection::vec((0u8..0xFF, any::<Vec<u8>>()), 0..4),
    ) {
        let t = |i: usize| texts[i].clone();
        let extension = if features.is_empty() { 0 } else { login_flags::EXTENSION };
        let login = Login7 {
            tds_version: numbers[0], packet_size: numbers[1], client_version: numbers[2],
            client_pid: numbers[3], connection_id: numbers[4], lcid: numbers[5], time_zone: -60,
            option_flags1: flags[0], option_flags2: flags[1], type_flags: flags[2],
            option_flags3: flags[3] & !login_flags::EXTENSION | extension,
            host_name: t(0), user_name: t(1), password: t(2), app_name: t(3), server_name: t(4),
            library_name: t(5), language: t(6), database: t(7), attach_file: t(8),
            new_password: t(9), client_id: [1, 2, 3, 4, 5, 6], sspi: vec![9; 5],
            features: features.into_iter().map(|(id, data)| Feature { id, data }).collect(),
        };
        let mut payload = Vec::new();
        login.encode(&mut payload);
        prop_assert_eq!(Login7::decode(&payload), Ok(login));
    }

    #[test]
    fn prelogins(
        numbers in any::<(u8, u8, u16, u16, u32, bool, u8)>(),
        instance in proptest::collection::vec(1u8..128, 1..20),
        nonce in any::<[u8; 32]>(),
        given in any::<[bool; 7]>(),
    ) {
        let (major, minor, build, sub_build, n, flag, e) = numbers;
        let wishes =
            [Encryption::Off, Encryption::On, Encryption::NotSupported, Encryption::Required];
        let trace = TraceId { connection: [major; 16], activity: [minor; 16], sequence: n };
        let p = Prelogin {
            version: Some(ProductVersion { major, minor, build, sub_build }),
            encryption: given[0].then_some(wishes[usize::from(e % 4)]),
            instance: given[1].then_some(instance),
            thread_id: given[2].then_some(n),
            mars: given[3].then_some(flag),
            trace_id: given[4].then_some(trace),
            fed_auth_required: given[5].then_some(e),
            nonce: given[6].then_some(nonce),
        };
        let mut payload = Vec::new();
        p.encode(&mut payload);
        prop_assert_eq!(Prelogin::decode(&payload), Ok(p));
    }

    #[test]
    fn transactions(kind in 0..4u8, a in name(), b in name(), level in 0..6u8, then: bool) {
        let levels = [
            None,
            Some(Isolation::ReadUncommitted),
            Some(Isolation::ReadCommitted),
            Some(Isolation::RepeatableRead),
            Some(Isolation::Serializable),
            Some(Isolation::Snapshot),
        ];
        let begin = Begin { isolation: levels[usize::from(level)], name: b };
        let then = then.then(|| begin.clone());
        let command = match kind {
            0 => TransactionCommand::Begin(begin),
            1 => TransactionCommand::Commit { name: a, then },
            2 => TransactionCommand::Rollback { name: a, then },
            _ => TransactionCommand::Save { name: a },
        };
        let mut payload = Vec::new();
        command.encode(&Headers::new(3), &mut payload);
        let m = message(PacketType::Transaction, payload);
        let Ok(Request::Transaction { headers, command: heard }) = decode_request(&m) else {
            panic!("a transaction request");
        };
        prop_assert_eq!((headers.transaction, heard), (3, command));
    }

    #[test]
    fn small_tokens(
        texts in proptest::collection::vec(name(), 3),
        numbers in any::<(i32, u8, u8, u32, u64, u16)>(),
        order in proptest::collection::vec(any::<u16>(), 0..9),
    ) {
        let (n, state, class, line, count, word) = numbers;
        let class = class % 26;
        let (new, old) = (texts[0].clone(), texts[1].clone());
        let changes = [
            EnvChange::Database { new: new.clone(), old: old.clone() },
            EnvChange::Language { new: new.clone(), old: old.clone() },
            EnvChange::Charset { new: new.clone(), old: old.clone() },
            EnvChange::PacketSize { new: line, old: 4096 },
            EnvChange::Collation {
                new: WireCollation([state; 5]),
                old: Some(WireCollation([1; 5])),
            },
            EnvChange::BeginTransaction(count),
            EnvChange::CommitTransaction(count),
            EnvChange::RollbackTransaction(count),
            EnvChange::ResetAck,
        ];
        let mut expected: Vec<Token> = changes.into_iter().map(Token::EnvChange).collect();
        let mut out = Vec::new();
        for token in &expected {
            if let Token::EnvChange(change) = token {
                change.encode(&mut out);
            }
        }
        let ack = LoginAck {
            tds_version: TdsVersion(line),
            program: new.clone(),
            version: ProductVersion { major: state, minor: class, build: word, sub_build: 0 },
        };
        ack.encode(&mut out);
        let error = base::SqlError::raw(n, class, state, new.clone()).at_line(line);
        encode_notice(&error, &old, &mut out);
        let done = DoneToken::with_count(DoneKind::InProc, DoneStatus(word), word, count);
        done.encode(&mut out);
        encode_return_status(n, &mut out);
        encode_order(&order, &mut out);
        encode_feature_ack(&[Feature { id: state % 255, data: vec![class] }], &mut out);
        // Severity 10 is class 0 on the wire: some drivers take 10 for an error.
        let sent = if class == 10 { 0 } else { class };
        let notice = Notice {
            number: n, state, class: sent, text: new, server: old, procedure: String::new(), line,
        };
        expected.extend([
            Token::LoginAck(ack),
            if class <= 10 { Token::Info(notice) } else { Token::Error(notice) },
            Token::Done(done),
            Token::ReturnStatus(n),
            Token::Order(order),
            Token::FeatureAck(vec![Feature { id: state % 255, data: vec![class] }]),
        ]);
        // A byte at a time: no token too early, none lost.
        let (mut reader, mut heard) = (ResponseReader::new(), Vec::new());
        for byte in out {
            reader.feed(&[byte]);
            while let Some(token) = reader.next_token().unwrap() {
                heard.push(token);
            }
        }
        prop_assert_eq!(heard, expected);
    }
}

#[test]
fn a_rowversion_goes_as_eight_bytes() {
    let value = Value::Binary(Bytes::new(&[0, 0, 0, 0, 0, 0, 7, 209]));
    let said = |sql: SqlType| {
        let columns = [Column::new("v", sql, ColumnFlags::default())];
        let mut out = Vec::new();
        encode_columns(&columns, TdsVersion::V7_4, &mut out);
        let row = std::slice::from_ref(&value);
        RowEncoder::new(&columns, TdsVersion::V7_4).encode(row, &mut out).unwrap();
        out
    };
    assert_eq!(said(SqlType::RowVersion), said(SqlType::Binary(8)));
}
