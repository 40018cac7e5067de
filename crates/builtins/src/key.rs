//! Functions over certificates and keys, and what else asks for objects that cannot exist here.
//!
//! There are no such objects (CREATE CERTIFICATE and its kin are refused), so each answers what
//! SQL Server answers for a name or an id that nobody has: NULL. They exist so that scripts which
//! look before they create can look.

use crate::call::{Function, NullRule};
use types::{SqlType, Value};

const I: SqlType = SqlType::Int;
const NAME: SqlType = SqlType::SYSNAME;
const SEALED: SqlType = SqlType::varbinary(8000);

macro_rules! absent {
    ($($name:literal, $min:literal, $max:literal, $result:expr;)*) => {
        /// Functions about keys.
        pub(crate) const FUNCTIONS: &[Function] = &[
            $(Function {
                name: $name,
                min_args: $min,
                max_args: $max,
                result: |_| Ok($result),
                deterministic: false,
                nulls: NullRule::Own,
                date_part: false,
                eval: |_, _| Ok(Value::Null),
            }),*
        ];
    };
}

absent! {
    "ASYMKEY_ID", 1, 1, I;
    "ASYMKEYPROPERTY", 2, 2, NAME;
    "CERT_ID", 1, 1, I;
    "CERTENCODED", 1, 1, SqlType::VARBINARY_MAX;
    "CERTPRIVATEKEY", 2, 3, SqlType::VARBINARY_MAX;
    "CERTPROPERTY", 2, 2, NAME;
    "DECRYPTBYASYMKEY", 2, 3, SEALED;
    "DECRYPTBYCERT", 2, 3, SEALED;
    "DECRYPTBYKEY", 1, 3, SEALED;
    "DECRYPTBYKEYAUTOASYMKEY", 3, 5, SEALED;
    "DECRYPTBYKEYAUTOCERT", 3, 5, SEALED;
    "ENCRYPTBYASYMKEY", 2, 2, SEALED;
    "ENCRYPTBYCERT", 2, 2, SEALED;
    "ENCRYPTBYKEY", 2, 4, SEALED;
    "GET_FILESTREAM_TRANSACTION_CONTEXT", 0, 0, SqlType::VARBINARY_MAX;
    "KEY_GUID", 1, 1, SqlType::UniqueIdentifier;
    "KEY_ID", 1, 1, I;
    "KEY_NAME", 1, 1, NAME;
    "SIGNBYASYMKEY", 2, 3, SEALED;
    "SIGNBYCERT", 2, 3, SEALED;
    "SYMKEYPROPERTY", 2, 2, NAME;
    "VERIFYSIGNEDBYASYMKEY", 3, 3, I;
    "VERIFYSIGNEDBYCERT", 3, 3, I;
}
