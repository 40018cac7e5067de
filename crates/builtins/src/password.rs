//! PWDENCRYPT and PWDCOMPARE: SQL Server's hash of a password.
//!
//! | bytes | what |
//! |---|---|
//! | 0..2 | version: 0x0200 SHA-512 of 64 bytes, 0x0100 SHA-1 of 20 |
//! | 2..6 | salt |
//! | 6.. | digest of the password in UTF-16 and the salt |

use crate::call::{Call, Function, NullRule};
use base::SqlResult;
use md5::Digest as _;
use types::{SqlType, Value, text};

/// Functions of passwords.
pub(crate) const FUNCTIONS: &[Function] = &[
    Function {
        name: "PWDCOMPARE",
        min_args: 2,
        max_args: 3,
        result: |_| Ok(SqlType::Int),
        deterministic: true,
        nulls: NullRule::Strict,
        date_part: false,
        eval: compare,
    },
    Function {
        name: "PWDENCRYPT",
        min_args: 1,
        max_args: 1,
        result: |_| Ok(SqlType::varbinary(128)),
        deterministic: false,
        nulls: NullRule::Strict,
        date_part: false,
        eval: encrypt,
    },
];

fn salted(call: &Call<'_>, args: &[Value], salt: &[u8]) -> SqlResult<Vec<u8>> {
    let mut bytes = text::encode_utf16(&call.string(args, 0)?);
    bytes.extend_from_slice(salt);
    Ok(bytes)
}

fn encrypt(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let [salt @ .., _, _, _, _] = call.facts.random().to_le_bytes();
    let mut hash = vec![2, 0];
    hash.extend_from_slice(&salt);
    hash.extend_from_slice(&sha2::Sha512::digest(salted(call, args, &salt)?));
    Ok(Value::varbinary(&hash))
}

fn compare(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let stored = args[1].as_bytes().unwrap_or_default();
    let same = match stored {
        [2, 0, rest @ ..] if rest.len() == 68 => {
            let (salt, digest) = rest.split_at(4);
            sha2::Sha512::digest(salted(call, args, salt)?).as_slice() == digest
        }
        // The oldest form has a second digest, of the password in upper case, behind the first.
        [1, 0, rest @ ..] if rest.len() >= 24 => {
            let (salt, digest) = rest.split_at(4);
            sha1::Sha1::digest(salted(call, args, salt)?).as_slice() == &digest[..20]
        }
        _ => false,
    };
    Ok(Value::Int(i32::from(same)))
}
