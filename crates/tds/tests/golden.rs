//! The examples of the protocol's specification, byte for byte, in both directions.

use tds::*;
use types::{Length, SqlType, Value};

fn hex(text: &str) -> Vec<u8> {
    let digits: String = text.split_whitespace().collect();
    (0..digits.len())
        .step_by(2)
        .map(|i| u8::from_str_radix(&digits[i..i + 2], 16).expect("hex"))
        .collect()
}

/// The only message of some packets.
fn message(bytes: &[u8]) -> Message {
    let mut assembler = PacketAssembler::new(1 << 20);
    assembler.feed(bytes);
    let message = assembler.next_message().expect("valid packets").expect("a whole message");
    assert!(!assembler.is_midway());
    message
}

fn framed(kind: PacketType, payload: Vec<u8>) -> Vec<u8> {
    let mut out = Vec::new();
    frame(kind, PacketStatus::default(), 4096, payload, &mut out);
    out
}

#[test]
fn prelogin_request() {
    let bytes =
        hex("12 01 00 2F 00 00 01 00 00 00 1A 00 06 01 00 20 00 01 02 00 21 00 01 03 00 22 00 04
         04 00 26 00 01 FF 09 00 00 00 00 00 01 00 B8 0D 00 00 01");
    let m = message(&bytes);
    assert_eq!(m.kind, PacketType::Prelogin);
    let p = Prelogin::decode(&m.payload).unwrap();
    assert_eq!(p.version, Some(ProductVersion { major: 9, minor: 0, build: 0, sub_build: 0 }));
    assert_eq!((p.encryption, p.thread_id), (Some(Encryption::On), Some(3512)));
    assert_eq!((p.instance.as_deref(), p.mars), (Some(&[0][..]), Some(true)));
    let mut payload = Vec::new();
    p.encode(&mut payload);
    assert_eq!(framed(PacketType::Prelogin, payload), bytes);
}

#[test]
fn prelogin_answer() {
    let asked = Prelogin {
        version: Some(ProductVersion { major: 18, minor: 6, build: 2, sub_build: 0 }),
        encryption: Some(Encryption::Off),
        mars: Some(false),
        ..Prelogin::default()
    };
    let wish = asked.encryption.unwrap();
    let mut out = Vec::new();
    asked.answer(ProductVersion::SERVER, wish.answer_offered()).encode(&mut out);
    let expected = "00 0015 0006  01 001B 0001  02 001C 0001  04 001D 0001  FF
                    10 00 03E8 0000  00  00  00";
    assert_eq!(out, hex(expected));
}

#[test]
fn login_request() {
    let bytes =
        hex("10 01 00 90 00 00 01 00 88 00 00 00 02 00 09 72 00 10 00 00 00 00 00 07 00 01 00 00
         00 00 00 00 E0 03 00 00 00 00 00 00 09 04 00 00 5E 00 08 00 6E 00 02 00 72 00 00 00
         72 00 07 00 80 00 00 00 80 00 00 00 80 00 04 00 88 00 00 00 88 00 00 00 00 50 8B E2
         B7 8F 88 00 00 00 88 00 00 00 88 00 00 00 00 00 00 00 73 00 6B 00 6F 00 73 00 74 00
         6F 00 76 00 31 00 73 00 61 00 4F 00 53 00 51 00 4C 00 2D 00 33 00 32 00 4F 00 44 00
         42 00 43 00");
    let m = message(&bytes);
    let l = Login7::decode(&m.payload).unwrap();
    assert_eq!(TdsVersion::negotiate(l.tds_version), Ok(TdsVersion::V7_2));
    assert_eq!((l.packet_size, l.lcid, l.option_flags1), (4096, 0x409, 0xE0));
    assert_eq!((l.host_name.as_str(), l.user_name.as_str()), ("skostov1", "sa"));
    assert_eq!((l.password.as_str(), l.app_name.as_str()), ("", "OSQL-32"));
    assert_eq!((l.library_name.as_str(), l.client_id), ("ODBC", [0, 0x50, 0x8B, 0xE2, 0xB7, 0x8F]));
    let mut payload = Vec::new();
    l.encode(&mut payload);
    assert_eq!(framed(PacketType::Login, payload), bytes);
}

#[test]
fn passwords_are_swapped_and_xored() {
    // "sa" as every capture of a login shows it.
    let mut bytes = *b"s\0a\0";
    obfuscate(&mut bytes);
    assert_eq!(bytes, [0x92, 0xA5, 0xB3, 0xA5]);
    reveal(&mut bytes);
    assert_eq!(&bytes, b"s\0a\0");
}

#[test]
fn batch_request() {
    let bytes = hex(
        "01 01 00 5C 00 00 01 00 16 00 00 00 12 00 00 00 02 00 00 00 00 00 00 00 00 01 00 00 00 00
         0A 00 73 00 65 00 6C 00 65 00 63 00 74 00 20 00 27 00 66 00 6F 00 6F 00 27 00 20 00 61 00
         73 00 20 00 27 00 62 00 61 00 72 00 27 00 0A 00 20 00 20 00 20 00 20 00 20 00 20 00 20 00
         20 00",
    );
    let m = message(&bytes);
    let Request::Batch { headers, text } = decode_request(&m).unwrap() else { panic!("a batch") };
    assert_eq!(text, "\nselect 'foo' as 'bar'\n        ");
    assert_eq!((headers.transaction, headers.outstanding), (1 << 56, 0));
    let mut payload = Vec::new();
    encode_batch(&headers, &text, &mut payload);
    assert_eq!(framed(PacketType::Batch, payload), bytes);
}

#[test]
fn batch_response() {
    let bytes = hex(
        "04 01 00 33 00 00 01 00 81 01 00 00 00 00 00 20 00 A7 03 00 09 04 D0 00 34 03 62 00 61 00
         72 00 D1 03 00 66 6F 6F FD 10 00 C1 00 01 00 00 00 00 00 00 00",
    );
    let columns = [Column::new("bar", SqlType::varchar(3), ColumnFlags::COMPUTED)];
    let mut writer = PacketWriter::new(PacketType::Response, 4096, 0);
    let out = writer.payload();
    encode_columns(&columns, TdsVersion::V7_4, out);
    let rows = RowEncoder::new(&columns, TdsVersion::V7_4);
    rows.encode(&[Value::varchar("foo")], out).unwrap();
    DoneToken::with_count(DoneKind::Done, DoneStatus::FINAL, command::SELECT, 1).encode(out);
    let mut sent = Vec::new();
    writer.finish(&mut sent);
    assert_eq!(sent, bytes);

    let mut reader = ResponseReader::new();
    reader.feed(&message(&bytes).payload);
    assert_eq!(reader.next_token(), Ok(Some(Token::Columns(columns.to_vec()))));
    assert_eq!(reader.next_token(), Ok(Some(Token::Row(vec![Value::varchar("foo")]))));
    let Ok(Some(Token::Done(done))) = reader.next_token() else { panic!("a DONE") };
    assert_eq!((done.count, done.command), (1, command::SELECT));
    assert_eq!(reader.next_token(), Ok(None));
    assert!(reader.is_empty());
}

#[test]
fn rpc_request() {
    let bytes = hex(
        "03 01 00 2F 00 00 01 00 16 00 00 00 12 00 00 00 02 00 00 00 00 00 00 00 00 01 00 00 00 00
         04 00 66 00 6F 00 6F 00 33 00 00 00 00 02 26 02 00",
    );
    let m = message(&bytes);
    let Request::Rpc(mut batch) = decode_request(&m).unwrap() else { panic!("an RPC") };
    let call = batch.next_call().unwrap().expect("one call");
    assert_eq!(call.procedure, Procedure::Name("foo3".into()));
    let [p] = &call.parameters[..] else { panic!("one parameter") };
    assert!(p.default && !p.output && p.value.is_null() && p.info.sql == SqlType::SmallInt);
    assert!(!batch.has_more());
    let mut payload = Vec::new();
    encode_rpc(&batch.headers, &[call], &mut payload).unwrap();
    assert_eq!(framed(PacketType::Rpc, payload), bytes);
}

#[test]
fn bulk_load_and_attention_are_recognized() {
    let bulk = hex(
        "07 01 00 26 00 00 01 00 81 01 00 00 00 00 00 05 00 32 02 63 00 31 00 D1 00 FD 00 00 00 00
         00 00 00 00 00 00 00 00",
    );
    let m = message(&bulk);
    assert!(matches!(decode_request(&m), Ok(Request::BulkLoad(rows)) if rows.len() == 30));
    let attention = framed(PacketType::Attention, Vec::new());
    assert_eq!(attention, hex("06 01 00 08 00 00 01 00"));
    assert!(matches!(decode_request(&message(&attention)), Ok(Request::Attention)));
}

#[test]
fn transaction_requests() {
    let headers = "16000000 12000000 0200 0000000000000000 01000000";
    let cases = [
        (
            "0500 02 00",
            TransactionCommand::Begin(Begin {
                isolation: Some(Isolation::ReadCommitted),
                name: String::new(),
            }),
        ),
        ("0700 00 00", TransactionCommand::Commit { name: String::new(), then: None }),
        (
            "0700 00 01 00 00",
            TransactionCommand::Commit { name: String::new(), then: Some(Begin::default()) },
        ),
        ("0800 04 61006200 00", TransactionCommand::Rollback { name: "ab".into(), then: None }),
        ("0900 02 7300", TransactionCommand::Save { name: "s".into() }),
    ];
    for (body, command) in cases {
        let mut payload = Vec::new();
        command.encode(&Headers::new(0), &mut payload);
        assert_eq!(payload, hex(&format!("{headers} {body}")), "{command:?}");
        let m = message(&framed(PacketType::Transaction, payload));
        let Ok(Request::Transaction { command: decoded, .. }) = decode_request(&m) else {
            panic!("a transaction request");
        };
        assert_eq!(decoded, command);
    }
    let promote = hex(&format!("{headers} 0600"));
    let m = message(&framed(PacketType::Transaction, promote));
    let e = decode_request(&m).unwrap_err();
    assert_eq!(e, TdsError::Unsupported { feature: "distributed transactions" });
}

#[test]
fn login_response() {
    let mut out = Vec::new();
    EnvChange::Database { new: "master".into(), old: "master".into() }.encode(&mut out);
    EnvChange::Collation { new: WireCollation::SQL_LATIN1_CI_AS, old: None }.encode(&mut out);
    EnvChange::BeginTransaction(1).encode(&mut out);
    LoginAck::new(TdsVersion::V7_4, ProductVersion::SERVER).encode(&mut out);
    EnvChange::PacketSize { new: 8000, old: 4096 }.encode(&mut out);
    let offered = [Feature { id: 1, data: vec![] }, Feature { id: 0x0A, data: vec![] }];
    acknowledge_features(&offered, TdsVersion::V7_4, &mut out);
    DoneToken::new(DoneKind::Done, DoneStatus::FINAL).encode(&mut out);
    let expected = "
        E3 1B00 01 06 6D006100730074006500720 0 06 6D00610073007400650072 00
        E3 0800 07 05 0904D00034 00
        E3 0B00 08 08 0100000000000000 00
        AD 3200 01 74000004 14 4D006900630072006F0073006F0066007400200053005100
           4C002000530065007200760065007200 10 00 03E8
        E3 1300 04 04 3800300030003000 04 3400300039003600
        AE 0A 01000000 01 FF
        FD 0000 0000 0000000000000000";
    assert_eq!(out, hex(expected));
}

#[test]
fn an_error_and_a_message() {
    let e = base::SqlError::raw(208, 16, 1, "no 't'".into()).at_line(3).in_procedure("p");
    let mut out = Vec::new();
    encode_notice(&e, "S", &mut out);
    encode_notice(&base::SqlError::raw(5701, 10, 2, "x".into()), "", &mut out);
    let expected = "
        AA 1E00 D0000000 01 10 0600 6E006F0020002700740027 00 01 5300 01 7000 03000000
        AB 1000 45160000 02 00 0100 7800 00 00 00000000";
    assert_eq!(out, hex(expected));
    let mut reader = ResponseReader::new();
    reader.feed(&out);
    let Ok(Some(Token::Error(n))) = reader.next_token() else { panic!("an error") };
    assert_eq!(base::SqlError::from(n), e);
    assert!(matches!(reader.next_token(), Ok(Some(Token::Info(n))) if n.number == 5701));
}

/// The ends of MS-TDS's examples: of a batch (4.7), and of a call's query, status and procedure.
#[test]
fn ends_of_statements_and_procedures() {
    let mut out = Vec::new();
    DoneToken::with_count(DoneKind::Done, DoneStatus::FINAL, command::SELECT, 1).encode(&mut out);
    DoneToken::with_count(DoneKind::InProc, DoneStatus::MORE, command::SELECT, 1).encode(&mut out);
    encode_return_status(0, &mut out);
    let ended = DoneToken::new(DoneKind::Proc, DoneStatus::FINAL);
    DoneToken { command: command::EXECUTE, ..ended }.encode(&mut out);
    let expected = "
        FD 1000 C100 0100000000000000
        FF 1100 C100 0100000000000000
        79 00000000
        FE 0000 E000 0000000000000000";
    assert_eq!(out, hex(expected));
    let mut reader = ResponseReader::new();
    reader.feed(&out);
    let mut commands = Vec::new();
    while let Some(token) = reader.next_token().unwrap() {
        if let Token::Done(done) = token {
            commands.push((done.kind, done.command));
        }
    }
    let wanted = [(DoneKind::Done, 0xC1), (DoneKind::InProc, 0xC1), (DoneKind::Proc, 0xE0)];
    assert_eq!(commands, wanted);
    assert_eq!(command::of_definition("CREATE TABLE"), 0xC6);
    assert_eq!(command::of_definition("ALTER INDEX"), 0x151);
    assert_eq!(command::of_definition("ALTER VIEW"), command::NONE);
}

#[test]
fn every_type_has_its_bytes() {
    use types::{DateTime, DateTime2, DateTimeOffset, Decimal, SmallDateTime};
    let dt2 = DateTime2 { days: 733_041, ticks: 0x1_0203_0405 };
    let decimal = Value::Decimal(Decimal::new(-12345, 2).unwrap());
    let dto = Value::DateTimeOffset(DateTimeOffset { utc: dt2, offset: -120 });
    let cases: Vec<(SqlType, Value, &str, &str)> = vec![
        (SqlType::Bit, true.into(), "68 01", "01 01"),
        (SqlType::TinyInt, 200u8.into(), "26 01", "01 C8"),
        (SqlType::SmallInt, (-2i16).into(), "26 02", "02 FEFF"),
        (SqlType::Int, 1i32.into(), "26 04", "04 01000000"),
        (SqlType::BigInt, Value::Null, "26 08", "00"),
        (SqlType::decimal(9, 2), decimal, "6A 05 09 02", "05 00 39300000"),
        (
            SqlType::decimal(38, 0),
            Value::Decimal(Decimal::from_i64(1)),
            "6A 11 26 00",
            "11 01 01000000000000000000000000000000",
        ),
        (SqlType::Money, Value::Money(0x0102_0304_0506_0708), "6E 08", "08 04030201 08070605"),
        (SqlType::SmallMoney, Value::Money(10_000), "6E 04", "04 10270000"),
        (SqlType::Real, 1f32.into(), "6D 04", "04 0000803F"),
        (SqlType::Float, 1f64.into(), "6D 08", "08 000000000000F03F"),
        (SqlType::Date, Value::Date(733_041), "28", "03 712F0B"),
        (SqlType::Time(0), Value::Time(10_000_000), "29 00", "03 010000"),
        (SqlType::Time(7), Value::Time(1), "29 07", "05 0100000000"),
        (
            SqlType::DateTime,
            DateTime { days: 1, ticks: 300 }.into(),
            "6F 08",
            "08 01000000 2C010000",
        ),
        (
            SqlType::SmallDateTime,
            SmallDateTime { days: 2, minutes: 3 }.into(),
            "6F 04",
            "04 0200 0300",
        ),
        (SqlType::DateTime2(7), dt2.into(), "2A 07", "08 0504030201 712F0B"),
        (SqlType::DateTimeOffset(7), dto, "2B 07", "0A 0504030201 712F0B 88FF"),
        (SqlType::Char(3), Value::varchar("ab "), "AF 0300 0904D00034", "0300 616220"),
        (SqlType::varchar(5), Value::varchar("é"), "A7 0500 0904D00034", "0100 E9"),
        (SqlType::NChar(1), Value::nvarchar("x"), "EF 0200 0904D00034", "0200 7800"),
        (SqlType::nvarchar(10), Value::Null, "E7 1400 0904D00034", "FFFF"),
        (SqlType::Binary(2), Value::varbinary(&[1, 2]), "AD 0200", "0200 0102"),
        (SqlType::varbinary(8), Value::varbinary(&[]), "A5 0800", "0000"),
        (
            SqlType::VARCHAR_MAX,
            Value::varchar("ab"),
            "A7 FFFF 0904D00034",
            "0200000000000000 02000000 6162 00000000",
        ),
        (SqlType::NVarChar(Length::Max), Value::Null, "E7 FFFF 0904D00034", "FFFFFFFFFFFFFFFF"),
        (SqlType::VARBINARY_MAX, Value::varbinary(&[]), "A5 FFFF", "0000000000000000 00000000"),
        (
            SqlType::UniqueIdentifier,
            Value::Guid(*b"0123456789abcdef"),
            "24 10",
            "10 30313233343536373839616263646566",
        ),
    ];
    for (sql, value, info, bytes) in cases {
        let (mut got_info, mut got) = (Vec::new(), Vec::new());
        encode_type(sql, WireCollation::SQL_LATIN1_CI_AS, &mut got_info);
        encode_value(sql, WireCollation::SQL_LATIN1_CI_AS, &value, &mut got).unwrap();
        assert_eq!((got_info, got), (hex(info), hex(bytes)), "{sql}");
    }
}

/// Characters that come as UTF-16 go out in the code page that the collation announces.
#[test]
fn text_goes_out_in_the_code_page_of_its_collation() {
    let cases = [
        ("Korean_Wansung_CI_AS", "가", "0200 B0A1"),
        ("Cyrillic_General_CI_AS", "Я", "0100 DF"),
        ("Latin1_General_CI_AS", "é€", "0200 E980"),
        ("Latin1_General_100_CI_AS_SC_UTF8", "é", "0200 C3A9"),
    ];
    for (name, text, bytes) in cases {
        let collation = types::Collation::by_name(name).expect("a collation").into();
        let mut got = Vec::new();
        encode_value(SqlType::varchar(9), collation, &Value::nvarchar(text), &mut got).unwrap();
        assert_eq!(got, hex(bytes), "{name}");
    }
}

/// Bytes that are none of their code page come as a character that is longer there. The value is
/// still one of its type, and can be sent back.
#[test]
fn bytes_that_are_no_text_do_not_outgrow_their_type() {
    let utf8 = types::Collation::by_name("Latin1_General_100_CI_AS_SC_UTF8").expect("a collation");
    for (broken, kept) in [(&b"a\x9e\x9e\x9e"[..], "a\u{FFFD}"), (b"\x9e\xf0\x9f\x98", "\u{FFFD}")]
    {
        let sent = ReturnValue {
            ordinal: 1,
            name: "@p".into(),
            of_function: false,
            sql: SqlType::varchar(4),
            collation: utf8.into(),
            value: Value::nvarchar("abcd"),
        };
        let mut bytes = Vec::new();
        sent.encode(TdsVersion::V7_4, &mut bytes).unwrap();
        let at = bytes.len() - broken.len();
        bytes[at..].copy_from_slice(broken);
        let mut reader = ResponseReader::new();
        reader.feed(&bytes);
        let Some(Token::ReturnValue(value)) = reader.next_token().unwrap() else { panic!("one") };
        assert_eq!(value.value, Value::nvarchar(kept));
        value.encode(TdsVersion::V7_4, &mut Vec::new()).expect("an instance of its type");
    }
}

#[test]
fn nulls_that_outweigh_a_bitmap_go_as_nbcrow() {
    let columns = [
        Column::new("a", SqlType::Int, ColumnFlags::NULLABLE),
        Column::new("b", SqlType::NVARCHAR_MAX, ColumnFlags::NULLABLE),
    ];
    let row = [Value::Int(7), Value::Null];
    let mut out = Vec::new();
    RowEncoder::new(&columns, TdsVersion::V7_4).encode(&row, &mut out).unwrap();
    assert_eq!(out, hex("D2 02 04 07000000"));
    out.clear();
    RowEncoder::new(&columns, TdsVersion::V7_2).encode(&row, &mut out).unwrap();
    assert_eq!(out, hex("D1 04 07000000 FFFFFFFFFFFFFFFF"));
}

#[test]
fn a_client_of_tds_7_2_sees_dates_as_text() {
    let columns = [Column::new("d", SqlType::Date, ColumnFlags::NULLABLE)];
    let mut out = Vec::new();
    encode_columns(&columns, TdsVersion::V7_2, &mut out);
    RowEncoder::new(&columns, TdsVersion::V7_2).encode(&[Value::Date(0)], &mut out).unwrap();
    let mut reader = ResponseReader::new();
    reader.feed(&out);
    assert!(matches!(reader.next_token(), Ok(Some(Token::Columns(c)))
            if c[0].sql == SqlType::nvarchar(10)));
    assert_eq!(reader.next_token(), Ok(Some(Token::Row(vec![Value::nvarchar("0001-01-01")]))));
}
