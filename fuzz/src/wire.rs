//! Targets `tds_login` and `tds_request`: what a client may send before and after its login.
//!
//! An input is a byte of choices and a stream. It goes to the decoders here and, where the first
//! bit of the choices says so, to the real server (`door`), in `tds_request` behind a login.
//!
//! Promises
//!  1. Any stream ends in messages, answers or an error that SQL Server numbers; no panic.
//!  2. What is decoded can be encoded and decodes to the same again.
//!  3. What the server answers after a login is well-formed TDS, whatever it was sent.

use crate::Input;
use crate::door::converse;
use base::SqlError;
use tds::{
    Begin, Column, ColumnFlags, DoneKind, DoneStatus, DoneToken, Encryption, EnvChange, Feature,
    Headers, Isolation, Login7, LoginAck, Message, PacketAssembler, PacketStatus, PacketType,
    PacketWriter, Prelogin, ProcId, Procedure, ProductVersion, Request, ResponseReader,
    ReturnValue, RowEncoder, RpcCall, RpcOptions, RpcParameter, TdsError, TdsVersion, Token,
    TraceId, TransactionCommand, decode_request, encode_batch, encode_columns, encode_feature_ack,
    encode_notice, encode_order, encode_return_status, encode_rpc, frame,
};

/// As a server that has not yet let anybody in.
const LIMIT: usize = 128 << 10;
const TO_SERVER: u8 = 1;
const FORCED: u8 = 2;
const SPLIT: u8 = 4;
const BARE: u8 = 8;
/// Every kind of packet.
const KINDS: [u8; 10] = [1, 3, 4, 6, 7, 8, 14, 16, 17, 18];

/// Before the login: pre-login, login, and whatever else stands there.
pub(crate) fn run_login(data: &[u8]) {
    let mut input = Input::new(data);
    let choices = input.byte();
    let stream = input.rest();
    decode_stream(stream, choices);
    if choices & BARE != 0 {
        payloads(stream);
    }
    if choices & TO_SERVER != 0 {
        let _ = converse(choices & FORCED != 0, stream);
    }
}

/// After the login: batches, calls, transactions, attentions, bulk loads.
pub(crate) fn run_request(data: &[u8]) {
    let mut input = Input::new(data);
    let choices = input.byte();
    let stream = input.rest();
    decode_stream(stream, choices);
    if choices & BARE != 0 {
        payloads(stream);
    }
    if choices & TO_SERVER != 0 {
        let mut sent = logged_in();
        sent.extend_from_slice(stream);
        let answer = converse(false, &sent);
        assert!(understood(&answer) > 0, "a login is answered");
    }
}

/// How many messages an answer has, all of them whole.
fn understood(answer: &[u8]) -> usize {
    let mut packets = PacketAssembler::new(usize::MAX);
    packets.feed(answer);
    let mut messages = 0;
    while let Some(message) = packets.next_message().expect("the server's packets are sound") {
        assert_eq!(message.kind, PacketType::Response);
        messages += 1;
        if messages == 1 {
            Prelogin::decode(&message.payload).expect("the first answer is to PRELOGIN");
            continue;
        }
        errors_of(&message.payload);
    }
    messages
}

/// Numbers and texts of the errors of a message, whose tokens are all whole.
pub(crate) fn errors_of(payload: &[u8]) -> Vec<(i32, String)> {
    let mut reader = ResponseReader::new();
    reader.feed(payload);
    let mut errors = Vec::new();
    while let Some(token) = reader.next_token().expect("the server's tokens are sound") {
        if let Token::Error(notice) = token {
            errors.push((notice.number, notice.text));
        }
    }
    assert!(reader.is_empty(), "a message ends between tokens");
    errors
}

/// The stream as packets, whole or in two pieces.
fn decode_stream(stream: &[u8], choices: u8) {
    let mut packets = PacketAssembler::new(LIMIT);
    let middle = if choices & SPLIT == 0 { stream.len() } else { stream.len() / 2 };
    for piece in [&stream[..middle], &stream[middle..]] {
        packets.feed(piece);
        loop {
            match packets.next_message() {
                Ok(Some(message)) => {
                    assert!(message.payload.len() <= LIMIT, "the limit holds");
                    decode(&message);
                    packets.recycle(message.payload);
                }
                Ok(None) => break,
                Err(e) => return refused(e),
            }
        }
    }
    let _ = packets.is_midway();
    let rest = packets.take_rest();
    assert!(rest.len() <= stream.len());
}

/// The stream as the payload of a message of every kind, so that no header must be guessed.
fn payloads(stream: &[u8]) {
    let Some((&first, payload)) = stream.split_first() else { return };
    let kind = KINDS[usize::from(first) % KINDS.len()];
    let kind = PacketType::from_byte(kind).expect("a kind of packet");
    decode(&Message { kind, status: PacketStatus::EOM, spid: 0, payload: payload.to_vec() });
}

fn refused(e: TdsError) {
    let _ = e.is_fatal();
    let error = SqlError::from(e);
    assert!(error.number() > 0 && !error.text().is_empty());
}

fn decode(message: &Message) {
    let payload = &message.payload;
    match message.kind {
        PacketType::Prelogin => match Prelogin::decode(payload) {
            Ok(prelogin) => prelogin_again(&prelogin),
            Err(e) => refused(e),
        },
        PacketType::Login => match Login7::decode(payload) {
            Ok(login) => login_again(&login),
            Err(e) => refused(e),
        },
        PacketType::Response => response(payload),
        _ => request(message),
    }
    framed(message);
}

/// The payload in packets of another size, and back.
fn framed(message: &Message) {
    let Message { kind, payload, .. } = message;
    if *kind == PacketType::Attention {
        return;
    }
    let mut bytes = Vec::new();
    let size = 512 + (payload.len() as u16 & 0x3FF);
    frame(*kind, PacketStatus::default(), size, payload.clone(), &mut bytes);
    let mut packets = PacketAssembler::new(usize::MAX);
    packets.feed(&bytes);
    let back = packets.next_message().expect("our own packets").expect("a whole message");
    assert!(back.kind == *kind && back.payload == *payload);
}

fn prelogin_again(prelogin: &Prelogin) {
    let mut payload = Vec::new();
    prelogin.encode(&mut payload);
    assert_eq!(Prelogin::decode(&payload).as_ref(), Ok(prelogin));
    if let Some(wish) = prelogin.encryption {
        let _ = (wish.outcome(wish.answer_offered()), wish.outcome(wish.answer_forced()));
    }
}

fn login_again(login: &Login7) {
    let version = TdsVersion::negotiate(login.tds_version);
    let mut payload = Vec::new();
    login.encode(&mut payload);
    let again = Login7::decode(&payload).expect("our own login");
    assert_eq!((&again.user_name, &again.password), (&login.user_name, &login.password));
    let _ = format!("{login:?}");
    match version {
        Ok(version) => {
            let mut out = Vec::new();
            tds::acknowledge_features(&login.features, version, &mut out);
            LoginAck::new(version, ProductVersion::SERVER).encode(&mut out);
            tokens(&out);
        }
        Err(e) => refused(e),
    }
}

fn request(message: &Message) {
    match decode_request(message) {
        Ok(Request::Batch { headers, text }) => {
            let mut payload = Vec::new();
            encode_batch(&headers, &text, &mut payload);
            let kind = PacketType::Batch;
            let again = Message { kind, status: PacketStatus::EOM, spid: 0, payload };
            let Ok(Request::Batch { text: same, .. }) = decode_request(&again) else {
                panic!("a batch stays one")
            };
            assert_eq!(text, same);
        }
        Ok(Request::Rpc(mut batch)) => loop {
            match batch.next_call() {
                Ok(Some(call)) => call_again(&batch.headers, &call),
                Ok(None) => break,
                Err(e) => return refused(e),
            }
        },
        Ok(Request::Transaction { headers, command }) => {
            let mut payload = Vec::new();
            command.encode(&headers, &mut payload);
            let kind = PacketType::Transaction;
            let again = Message { kind, status: PacketStatus::EOM, spid: 0, payload };
            let Ok(Request::Transaction { command: same, .. }) = decode_request(&again) else {
                panic!("a transaction request stays one")
            };
            assert_eq!(command, same);
        }
        Ok(Request::BulkLoad(rows)) => {
            let Ok((reader, mut at)) = tds::BulkReader::begin(rows) else { return };
            let mut row = vec![types::Value::Null; reader.columns().len()];
            let mut again = row.clone();
            while let Ok(tds::BulkRow::Row(length)) = reader.next_row(&rows[at..], true, &mut row) {
                assert!(length > 0, "a row has a token");
                // What has come of a row is none, what is behind it makes no difference.
                let all = reader.next_row(&rows[at..at + length], false, &mut again);
                assert_eq!(all.ok(), Some(tds::BulkRow::Row(length)));
                let part = reader.next_row(&rows[at..at + length - 1], false, &mut again);
                assert_eq!(part.ok(), Some(tds::BulkRow::More));
                at += length;
            }
        }
        Ok(Request::Attention) => {}
        Err(e) => refused(e),
    }
}

/// A call encoded again, and its parameters as a row and as return values.
fn call_again(headers: &Headers, call: &RpcCall) {
    let _ = call.procedure.well_known().map(ProcId::name);
    let mut payload = Vec::new();
    encode_rpc(headers, std::slice::from_ref(call), &mut payload)
        .expect("a decoded value is an instance of its type");
    let kind = PacketType::Rpc;
    let again = Message { kind, status: PacketStatus::EOM, spid: 0, payload };
    let Ok(Request::Rpc(mut batch)) = decode_request(&again) else { panic!("a call stays one") };
    let same = batch.next_call().expect("our own call").expect("one call");
    assert_eq!(same.procedure, call.procedure);
    assert_eq!(same.parameters.len(), call.parameters.len());
    for (mine, theirs) in same.parameters.iter().zip(&call.parameters) {
        assert_eq!(mine.info.sql, theirs.info.sql);
        assert_eq!(mine.value, kept(theirs), "a value comes back as its code page has it");
    }
    if call.parameters.is_empty() || call.parameters.len() > 1024 {
        return;
    }
    for version in [TdsVersion::V7_2, TdsVersion::V7_4] {
        tokens(&row_of(call, version));
    }
}

/// A parameter's value behind its code page: what was not of that, is not there either.
fn kept(parameter: &RpcParameter) -> types::Value {
    let page = types::Collation::page_of_tds_bytes(parameter.info.collation.0);
    match &parameter.value {
        types::Value::NChar(wide) if parameter.info.sql.family() == types::Family::Char => {
            let bytes = page.narrow(wide);
            match bytes.is_ascii() {
                true => types::Value::Char(bytes.into()),
                false => types::Value::NChar(page.widen(&bytes).into()),
            }
        }
        value => value.clone(),
    }
}

fn row_of(call: &RpcCall, version: TdsVersion) -> Vec<u8> {
    let flags = ColumnFlags::NULLABLE.and(ColumnFlags::UPDATABLE);
    let columns: Vec<Column<'_>> =
        call.parameters.iter().map(|p| Column::new(&p.name, p.info.sql, flags)).collect();
    let row: Vec<_> = call.parameters.iter().map(|p| p.value.clone()).collect();
    let mut out = Vec::new();
    encode_columns(&columns, version, &mut out);
    let rows = RowEncoder::new(&columns, version);
    rows.encode(&row, &mut out).expect("a decoded value fits its type's column");
    rows.encode(&vec![types::Value::Null; row.len()], &mut out).expect("NULL fits every column");
    for (column, p) in columns.iter().zip(&call.parameters) {
        let value = ReturnValue {
            ordinal: 1,
            name: p.name.clone().into(),
            of_function: p.default,
            sql: column.sql,
            collation: column.collation,
            value: p.value.clone(),
        };
        value.encode(version, &mut out).expect("a decoded value fits its type");
    }
    out
}

/// Tokens of our own: all are understood, to the last byte.
fn tokens(bytes: &[u8]) {
    let mut reader = ResponseReader::new();
    reader.feed(bytes);
    while reader.next_token().expect("our own tokens").is_some() {}
    assert!(reader.is_empty(), "our own tokens are whole");
}

/// A response that a stranger sent, token by token; those we can say are said again.
fn response(payload: &[u8]) {
    let mut reader = ResponseReader::new();
    let (front, back) = payload.split_at(payload.len() / 3);
    let mut out = Vec::new();
    for piece in [front, back] {
        reader.feed(piece);
        loop {
            match reader.next_token() {
                Ok(Some(token)) => again(&token, &mut out),
                Ok(None) => break,
                Err(e) => return refused(e),
            }
        }
    }
    tokens(&out);
}

fn again(token: &Token, out: &mut Vec<u8>) {
    match token {
        Token::LoginAck(ack) => ack.encode(out),
        Token::EnvChange(change) => change.encode(out),
        Token::Info(notice) | Token::Error(notice) => {
            let class = notice.class.min(25);
            let number = notice.number;
            let error = SqlError::raw(number, class, notice.state, notice.text.clone());
            encode_notice(&error.at_line(notice.line), &notice.server, out);
        }
        Token::FeatureAck(features) => encode_feature_ack(features, out),
        Token::Columns(columns) if columns.len() <= 1024 => {
            encode_columns(columns, TdsVersion::V7_4, out);
        }
        Token::Order(columns) => encode_order(columns, out),
        Token::ReturnStatus(status) => encode_return_status(*status, out),
        Token::ReturnValue(value) => {
            value.encode(TdsVersion::V7_4, out).expect("a decoded value is one of its type");
        }
        Token::Done(done) if done.count == 0 || done.status.has(DoneStatus::COUNT) => {
            done.encode(out);
        }
        Token::Columns(_) | Token::Row(_) | Token::Skipped(_) | Token::Done(_) => {}
    }
}

pub(crate) fn packets(kind: PacketType, payload: Vec<u8>) -> Vec<u8> {
    let mut out = Vec::new();
    frame(kind, PacketStatus::default(), 4096, payload, &mut out);
    out
}

fn prelogin(encryption: Encryption) -> Vec<u8> {
    let asked = Prelogin {
        version: Some(ProductVersion::SERVER),
        encryption: Some(encryption),
        instance: Some(b"MSSQLServer\0".to_vec()),
        thread_id: Some(4),
        mars: Some(false),
        trace_id: Some(TraceId { connection: [1; 16], activity: [2; 16], sequence: 3 }),
        fed_auth_required: Some(1),
        nonce: Some([4; 32]),
    };
    let mut payload = Vec::new();
    asked.encode(&mut payload);
    packets(PacketType::Prelogin, payload)
}

fn login(version: u32, database: &str) -> Vec<u8> {
    let asked = Login7 {
        tds_version: version,
        user_name: "sa".into(),
        password: "secret".into(),
        app_name: "fuzz".into(),
        database: database.into(),
        features: vec![Feature { id: 0x0A, data: vec![] }, Feature { id: 1, data: vec![0; 9] }],
        ..Login7::default()
    };
    let mut payload = Vec::new();
    asked.encode(&mut payload);
    packets(PacketType::Login, payload)
}

/// A greeting and a login without encryption.
fn logged_in() -> Vec<u8> {
    let [greeting, login] = greeting_and_login();
    [greeting, login].concat()
}

/// The two messages with which a client comes in without encryption.
pub(crate) fn greeting_and_login() -> [Vec<u8>; 2] {
    [prelogin(Encryption::NotSupported), login(0x7400_0004, "")]
}

/// A value of every type, as a call's parameters.
fn parameters() -> Vec<RpcParameter> {
    crate::values::all()
        .into_iter()
        .enumerate()
        .map(|(i, (sql, value))| {
            let mut p = RpcParameter::input(&format!("@p{i}"), sql, value);
            (p.output, p.default) = (i % 3 == 0, i % 7 == 0);
            p
        })
        .collect()
}

fn rpc(procedure: Procedure, parameters: Vec<RpcParameter>, twice: bool) -> Vec<u8> {
    let call = RpcCall { procedure, options: RpcOptions(0), parameters };
    let calls = if twice { vec![call.clone(), call] } else { vec![call] };
    let mut payload = Vec::new();
    encode_rpc(&Headers { activity: Some(([1; 16], 1)), ..Headers::new(1) }, &calls, &mut payload)
        .expect("values of their types");
    payload
}

fn transactions() -> Vec<Vec<u8>> {
    let begin = Begin { isolation: Some(Isolation::Snapshot), name: "n".into() };
    let then = Some(begin.clone());
    [
        TransactionCommand::Begin(begin),
        TransactionCommand::Commit { name: "t".into(), then: then.clone() },
        TransactionCommand::Rollback { name: "t".into(), then },
        TransactionCommand::Commit { name: String::new(), then: None },
        TransactionCommand::Save { name: "s".into() },
    ]
    .iter()
    .map(|command| {
        let mut payload = Vec::new();
        command.encode(&Headers::new(1), &mut payload);
        payload
    })
    .collect()
}

/// Every kind of token.
fn answer() -> Vec<u8> {
    let mut writer = PacketWriter::new(PacketType::Response, 4096, 51);
    let out = writer.payload();
    LoginAck::new(TdsVersion::V7_4, ProductVersion::SERVER).encode(out);
    for change in [
        EnvChange::Database { new: "a".into(), old: "b".into() },
        EnvChange::PacketSize { new: 4096, old: 512 },
        EnvChange::BeginTransaction(7),
        EnvChange::ResetAck,
    ] {
        change.encode(out);
    }
    encode_notice(&SqlError::raw(50000, 16, 1, "text".into()), "s", out);
    encode_notice(&SqlError::raw(5701, 10, 1, "text".into()), "s", out);
    encode_feature_ack(&[Feature { id: 4, data: vec![1] }], out);
    encode_order(&[1, 2], out);
    let parameters = parameters();
    let call =
        RpcCall { procedure: Procedure::Name("p".into()), options: RpcOptions(0), parameters };
    out.extend_from_slice(&row_of(&call, TdsVersion::V7_4));
    encode_return_status(0, out);
    for kind in [DoneKind::Done, DoneKind::Proc, DoneKind::InProc] {
        DoneToken::with_count(kind, DoneStatus::COUNT, 0xC1, 3).encode(out);
    }
    out.clone()
}

/// Valid conversations before a login.
pub(crate) fn login_seeds() -> Vec<Vec<u8>> {
    let wishes = [Encryption::Off, Encryption::On, Encryption::NotSupported, Encryption::Required];
    let mut seeds = Vec::new();
    for (n, wish) in wishes.into_iter().enumerate() {
        let version = [0x7400_0004, 0x730B_0003, 0x7209_0002, 0x0800_0000][n];
        for choices in [0, TO_SERVER, TO_SERVER | FORCED | SPLIT] {
            let database = if choices == 0 { "master" } else { "!gone" };
            let stream = [prelogin(wish), login(version, database)].concat();
            seeds.push([&[choices][..], &stream].concat());
        }
    }
    seeds.push([&[TO_SERVER][..], &login(0x7400_0004, "")].concat());
    // The beginning of a TLS handshake, bare and within PRELOGIN.
    let hello = [0x16, 3, 1, 0, 5, 1, 0, 0, 1, 3];
    seeds.push([&[TO_SERVER][..], &hello].concat());
    let wrapped = packets(PacketType::Prelogin, hello.to_vec());
    seeds.push([&[TO_SERVER][..], &prelogin(Encryption::On), &wrapped].concat());
    seeds
}

/// Valid requests, framed and bare, and valid responses.
pub(crate) fn request_seeds() -> Vec<Vec<u8>> {
    let mut batch = Vec::new();
    encode_batch(&Headers::new(1), "select N'ä', 1", &mut batch);
    let mut all = vec![(PacketType::Batch, batch), (PacketType::Attention, Vec::new())];
    all.push((PacketType::BulkLoad, answer()));
    all.push((PacketType::Response, answer()));
    all.extend(transactions().into_iter().map(|payload| (PacketType::Transaction, payload)));
    let named = Procedure::Name("sys.sp_executesql".into());
    all.push((PacketType::Rpc, rpc(named, parameters(), true)));
    for id in [ProcId::ExecuteSql, ProcId::Prepare, ProcId::Execute] {
        all.push((PacketType::Rpc, rpc(Procedure::Id(id), parameters()[..3].to_vec(), false)));
    }
    for p in parameters() {
        let payload = rpc(Procedure::Name("p".into()), vec![p], false);
        all.push((PacketType::Rpc, payload));
    }
    for bytes in crate::values::legacy() {
        let mut payload = rpc(Procedure::Name("p".into()), Vec::new(), false);
        payload.extend_from_slice(&[1, b'p', 0, 0]);
        payload.extend_from_slice(bytes);
        all.push((PacketType::Rpc, payload));
    }
    let mut seeds = Vec::new();
    for (n, (kind, payload)) in all.into_iter().enumerate() {
        let choices = [TO_SERVER, 0, SPLIT][n % 3];
        if let Some(place) = KINDS.iter().position(|&k| k == kind as u8) {
            seeds.push([&[BARE, place as u8][..], &payload].concat());
        }
        seeds.push([&[choices][..], &packets(kind, payload)].concat());
    }
    seeds
}
