//! TDS versions: which a client asks for, which it gets, what each can carry.

use crate::error::{TdsError, TdsResult};

/// A version of the protocol, as the number that LOGIN7 carries.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TdsVersion(pub u32);

impl TdsVersion {
    /// 7.2, SQL Server 2005: no date, time, datetime2, datetimeoffset.
    pub const V7_2: TdsVersion = TdsVersion(0x7209_0002);
    /// 7.3.A, SQL Server 2008: no NBCROW.
    pub const V7_3A: TdsVersion = TdsVersion(0x730A_0003);
    /// 7.3.B, SQL Server 2008 R2.
    pub const V7_3B: TdsVersion = TdsVersion(0x730B_0003);
    /// 7.4, SQL Server 2012 to 2022.
    pub const V7_4: TdsVersion = TdsVersion(0x7400_0004);
    /// 8.0: as 7.4, within TLS from the first byte.
    pub const V8_0: TdsVersion = TdsVersion(0x0800_0000);

    /// The version that a client gets which asked for one: the newest that both know.
    ///
    /// # Errors
    /// `Version` when it is older than 7.2 (whose tokens have other widths) or unknown.
    pub fn negotiate(asked: u32) -> TdsResult<TdsVersion> {
        match asked {
            0x0800_0000 => Ok(TdsVersion::V8_0),
            // The revision byte at the end differs between clients; the rest is the version.
            0x7400_0000..=0x7FFF_FFFF => Ok(TdsVersion::V7_4),
            0x730B_0000..=0x73FF_FFFF => Ok(TdsVersion::V7_3B),
            0x7300_0000..=0x730A_FFFF => Ok(TdsVersion::V7_3A),
            0x7200_0000..=0x72FF_FFFF => Ok(TdsVersion::V7_2),
            asked => Err(TdsError::Version { asked }),
        }
    }

    /// Whether rows with a null bitmap are understood.
    pub fn has_nbcrow(self) -> bool {
        self != TdsVersion::V7_2 && self != TdsVersion::V7_3A
    }

    /// Whether date, time, datetime2 and datetimeoffset are understood; else they go as text.
    pub fn has_date_types(self) -> bool {
        self != TdsVersion::V7_2
    }

    /// Whether FEATUREEXTACK is understood.
    pub fn has_feature_extensions(self) -> bool {
        self == TdsVersion::V7_4 || self == TdsVersion::V8_0
    }
}

/// A product's version: of the server in PRELOGIN and LOGINACK, of the client in PRELOGIN.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ProductVersion {
    /// 16 for SQL Server 2022.
    pub major: u8,
    /// 0.
    pub minor: u8,
    /// The build.
    pub build: u16,
    /// Only in PRELOGIN.
    pub sub_build: u16,
}

impl ProductVersion {
    /// What this server claims to be compatible with: SQL Server 2022 (16.0.1000).
    pub const SERVER: ProductVersion =
        ProductVersion { major: 16, minor: 0, build: 1000, sub_build: 0 };
}

/// The program name in LOGINACK, which drivers compare.
pub const PROGRAM_NAME: &str = "Microsoft SQL Server";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_gets_the_newest_version_that_both_know() {
        let cases = [
            (0x0800_0000, Ok(TdsVersion::V8_0)),
            (0x7400_0004, Ok(TdsVersion::V7_4)),
            (0x7500_0004, Ok(TdsVersion::V7_4)),
            (0x730B_0003, Ok(TdsVersion::V7_3B)),
            (0x730A_0003, Ok(TdsVersion::V7_3A)),
            (0x7209_0002, Ok(TdsVersion::V7_2)),
            (0x7100_0001, Err(TdsError::Version { asked: 0x7100_0001 })),
            (0x0000_0000, Err(TdsError::Version { asked: 0 })),
        ];
        for (asked, got) in cases {
            assert_eq!(TdsVersion::negotiate(asked), got, "{asked:08x}");
        }
        assert!(!TdsVersion::V7_3A.has_nbcrow() && TdsVersion::V7_3A.has_date_types());
    }
}
