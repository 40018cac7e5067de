//! HASHBYTES, CHECKSUM, BINARY_CHECKSUM, CRYPT_GEN_RANDOM, and packing by gzip.
//!
//! BINARY_CHECKSUM folds values as SQL Server is known to: the sum turns left by four bits, then
//! takes the next one (a byte of text or binary, a whole number of up to four bytes) by exclusive
//! or; a short sum of bytes keeps its sign. What it does with other types, and the weights that
//! CHECKSUM gives to characters, nobody has published: there equal lists give equal numbers
//! (under the collation for CHECKSUM), and the number itself is not SQL Server's.

use crate::call::{Call, Function, NullRule, strict_functions};
use base::{SqlError, SqlResult, messages};
use types::{ByteBuffer, SqlType, Value, append_sort_key};

strict_functions! {
    /// Functions of digests and packing.
    "HASHBYTES", 2, 2, |_| Ok(SqlType::varbinary(8000)), hash_bytes;
    "COMPRESS", 1, 1, |_| Ok(SqlType::VARBINARY_MAX), compress;
    "DECOMPRESS", 1, 1, |_| Ok(SqlType::VARBINARY_MAX), decompress;
}

/// Functions that see NULL, or chance.
pub(crate) const MORE: &[Function] = &[
    Function {
        name: "CHECKSUM",
        min_args: 1,
        max_args: 1024,
        result: |_| Ok(SqlType::Int),
        deterministic: true,
        nulls: NullRule::Own,
        date_part: false,
        eval: |call, args| Ok(checksum(call, args, false)),
    },
    Function {
        name: "BINARY_CHECKSUM",
        min_args: 1,
        max_args: 1024,
        result: |_| Ok(SqlType::Int),
        deterministic: true,
        nulls: NullRule::Own,
        date_part: false,
        eval: |call, args| Ok(checksum(call, args, true)),
    },
    Function {
        name: "CRYPT_GEN_RANDOM",
        min_args: 1,
        max_args: 2,
        result: |_| Ok(SqlType::varbinary(8000)),
        deterministic: false,
        nulls: NullRule::Strict,
        date_part: false,
        eval: random_bytes,
    },
];

/// The bytes of text or a binary argument.
fn bytes_of<'a>(call: &Call<'_>, args: &'a [Value], i: usize) -> SqlResult<&'a [u8]> {
    match args[i].as_bytes() {
        Some(bytes) => Ok(bytes),
        None => Err(call.invalid(i, "hashbytes")),
    }
}

fn hash_bytes(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let algorithm = call.string(args, 0)?.to_ascii_uppercase();
    let bytes = bytes_of(call, args, 1)?;
    Ok(match algorithm.as_str() {
        "MD5" => digest::<md5::Md5>(bytes)?,
        "SHA" | "SHA1" => digest::<sha1::Sha1>(bytes)?,
        "SHA2_256" => digest::<sha2::Sha256>(bytes)?,
        "SHA2_512" => digest::<sha2::Sha512>(bytes)?,
        "MD2" | "MD4" => {
            let feature = format!("HASHBYTES with {algorithm}");
            return Err(SqlError::new(messages::FEATURE_NOT_SUPPORTED, &[&feature]));
        }
        _ => Value::Null,
    })
}

/// A digest and a packer look after so many bytes whether they are to end.
const LOOK_BYTES: usize = 1 << 20;

fn digest<D: md5::Digest>(bytes: &[u8]) -> SqlResult<Value> {
    let mut digest = D::new();
    for some in bytes.chunks(LOOK_BYTES) {
        digest.update(some);
        if some.len() == LOOK_BYTES {
            os::values::look()?;
        }
    }
    Ok(Value::varbinary(&digest.finalize()))
}

fn checksum(call: &Call<'_>, args: &[Value], binary: bool) -> Value {
    let each = args.iter().map(|value| match value {
        Value::Null => i32::MAX,
        Value::Char(bytes) | Value::Binary(bytes) if binary => byte_sum(bytes),
        _ => match value.as_i64().and_then(|n| i32::try_from(n).ok()) {
            Some(n) => n,
            None => form_sum(value, call.collation, binary),
        },
    });
    Value::Int(each.fold(0_u32, |sum, one| sum.rotate_left(4) ^ one as u32) as i32)
}

/// The sum of bytes; one that fits into one or two of them is signed as such.
fn byte_sum(bytes: &[u8]) -> i32 {
    let sum = bytes.iter().fold(0_u32, |sum, &b| sum.rotate_left(4) ^ u32::from(b));
    match sum {
        0x80..=0xFF => i32::from(sum as u8 as i8),
        0x8000..=0xFFFF => i32::from(sum as u16 as i16),
        _ => sum as i32,
    }
}

/// The sum of a value in a form that equal ones share.
fn form_sum(value: &Value, collation: types::Collation, binary: bool) -> i32 {
    let mut form = Vec::new();
    match value.as_bytes().filter(|_| binary) {
        Some(bytes) => form.extend_from_slice(bytes),
        None => {
            append_sort_key(value, collation, usize::MAX, &mut form);
        }
    }
    form.iter().fold(0_u32, |sum, &b| sum.rotate_left(4) ^ u32::from(b)) as i32
}

fn random_bytes(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let count = match usize::try_from(call.int(args, 0)?) {
        Ok(n) if (1..=8000).contains(&n) => n,
        _ => return Ok(Value::Null),
    };
    let mut bytes = Vec::with_capacity(count + 8);
    while bytes.len() < count {
        bytes.extend_from_slice(&call.facts.random().to_le_bytes());
    }
    bytes.truncate(count);
    Ok(Value::varbinary(&bytes))
}

fn compress(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    use std::io::Write as _;
    let bytes = bytes_of(call, args, 0)?;
    let level = flate2::Compression::default();
    let mut out = flate2::write::GzEncoder::new(ByteBuffer::default(), level);
    for some in bytes.chunks(LOOK_BYTES) {
        out.write_all(some).map_err(why)?;
        if some.len() == LOOK_BYTES {
            os::values::look()?;
        }
    }
    out.finish().map(|made| Value::Binary(made.into_bytes())).map_err(why)
}

/// Why nothing could be packed or unpacked: what was made had no room, or was no such thing.
fn why(error: std::io::Error) -> SqlError {
    match error.into_inner().map(|e| e.downcast::<SqlError>()) {
        Some(Ok(error)) => *error,
        _ => SqlError::new(messages::DECOMPRESS_INVALID, &[]),
    }
}

fn decompress(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    use std::io::Read as _;
    let bytes = bytes_of(call, args, 0)?;
    let mut out = ByteBuffer::default();
    let mut reader = flate2::read::MultiGzDecoder::new(bytes);
    let mut some = vec![0; UNPACKED_BYTES];
    loop {
        let read = reader.read(&mut some).map_err(why)?;
        if read == 0 {
            return Ok(Value::Binary(out.into_bytes()));
        }
        out.extend(&some[..read])?;
    }
}

/// DECOMPRESS unpacks so many bytes at a time.
const UNPACKED_BYTES: usize = 64 << 10;
