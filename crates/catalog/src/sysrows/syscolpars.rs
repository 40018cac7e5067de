//! `syscolpars`: the columns of tables, views and table-valued functions, and parameters.

use super::row::system_row;
use types::{Collation, Length, SqlType};

system_row! {
    /// A column, or a parameter.
    ColumnRow of Columns, "syscolpars", key 2 {
        object: i32 => "id" SqlType::Int,
        /// Of the parameter n of a module: -(n + 1).
        column: i32 => "colid" SqlType::Int,
        /// Its place in definition order.
        ordinal: i32 => "ordinal" SqlType::Int,
        name: Box<str> => "name" SqlType::SYSNAME,
        system_type: u8 => "xtype" SqlType::TinyInt,
        user_type: i32 => "utype" SqlType::Int,
        length: i16 => "length" SqlType::SmallInt,
        precision: u8 => "prec" SqlType::TinyInt,
        scale: u8 => "scale" SqlType::TinyInt,
        /// 255: the number stands in the status.
        collation: u8 => "collationid" SqlType::TinyInt,
        /// See [`column_status`].
        status: i32 => "status" SqlType::Int,
        /// Its place among the physical columns; none when it is not stored.
        physical: Option<i16> => "physical" SqlType::SmallInt,
        /// Its DEFAULT's object; 0 without one.
        default: i32 => "dflt" SqlType::Int,
        seed: Option<i128> => "seed" SqlType::decimal(38, 0),
        increment: Option<i128> => "increment" SqlType::decimal(38, 0),
    }
}

/// Bits of [`ColumnRow::status`].
pub(crate) mod column_status {
    pub(crate) const NULLABLE: i32 = 1;
    pub(crate) const COMPUTED: i32 = 2;
    pub(crate) const PERSISTED: i32 = 4;
    pub(crate) const OUTPUT: i32 = 8;
    pub(crate) const HAS_DEFAULT: i32 = 16;
    pub(crate) const READ_ONLY: i32 = 32;
    pub(crate) const ROW_GUID: i32 = 64;
    pub(crate) const CURSOR: i32 = 128;
    pub(crate) const NOT_FOR_REPLICATION: i32 = 256;

    /// The number of a collation beyond the first eight stands above the bits.
    pub(crate) const COLLATION_SHIFT: u32 = 16;
}

/// The collation's number is in the status: no number that an earlier build knows.
const BEYOND: u8 = 255;

/// What stands in a row for a collation: its column, and what it adds to the status.
pub(crate) fn stored_collation(collation: Collation) -> (u8, i32) {
    match u8::try_from(collation.id()) {
        Ok(id) if id < BEYOND => (id, 0),
        _ => (BEYOND, (u32::from(collation.id()) << column_status::COLLATION_SHIFT) as i32),
    }
}

impl ColumnRow {
    /// The collation; `None` when the number names none.
    pub(crate) fn collation(&self) -> Option<Collation> {
        Collation::by_id(match self.collation {
            BEYOND => (self.status as u32 >> column_status::COLLATION_SHIFT) as u16,
            id => u16::from(id),
        })
    }

    /// The declared type; `None` when the numbers name none.
    pub(crate) fn sql_type(&self) -> Option<SqlType> {
        let length = |divisor: i16, limit: u16| match self.length {
            -1 => Some(Length::Max),
            n => bounded(n, divisor, limit).map(Length::N),
        };
        let scale = |make: fn(u8) -> SqlType| (self.scale <= 7).then(|| make(self.scale));
        Some(match self.system_type {
            34 => SqlType::Image,
            35 => SqlType::Text,
            36 => SqlType::UniqueIdentifier,
            40 => SqlType::Date,
            41 => scale(SqlType::Time)?,
            42 => scale(SqlType::DateTime2)?,
            43 => scale(SqlType::DateTimeOffset)?,
            48 => SqlType::TinyInt,
            52 => SqlType::SmallInt,
            56 => SqlType::Int,
            58 => SqlType::SmallDateTime,
            59 => SqlType::Real,
            60 => SqlType::Money,
            61 => SqlType::DateTime,
            62 => SqlType::Float,
            98 => SqlType::Variant,
            99 => SqlType::NText,
            104 => SqlType::Bit,
            106 if (1..=38).contains(&self.precision) && self.scale <= self.precision => {
                SqlType::decimal(self.precision, self.scale)
            }
            122 => SqlType::SmallMoney,
            127 => SqlType::BigInt,
            165 => SqlType::VarBinary(length(1, 8000)?),
            167 => SqlType::VarChar(length(1, 8000)?),
            173 => SqlType::Binary(bounded(self.length, 1, 8000)?),
            175 => SqlType::Char(bounded(self.length, 1, 8000)?),
            189 => SqlType::RowVersion,
            231 => SqlType::NVarChar(length(2, 4000)?),
            239 => SqlType::NChar(bounded(self.length, 2, 4000)?),
            241 => SqlType::Xml,
            _ => return None,
        })
    }
}

/// A stored length in bytes as a declared one.
fn bounded(bytes: i16, divisor: i16, limit: u16) -> Option<u16> {
    let n = u16::try_from(bytes / divisor).ok()?;
    (1..=limit).contains(&n).then_some(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(t: SqlType, collation: Collation) -> ColumnRow {
        let (number, status) = stored_collation(collation);
        ColumnRow {
            object: 1,
            column: 1,
            ordinal: 0,
            name: "c".into(),
            system_type: t.system_type_id(),
            user_type: t.user_type_id(),
            length: t.max_length(),
            precision: t.precision(),
            scale: t.scale(),
            collation: number,
            status: status | column_status::NULLABLE | column_status::CURSOR,
            physical: Some(0),
            default: 0,
            seed: None,
            increment: None,
        }
    }

    #[test]
    fn every_collation_is_read_as_it_was_written() {
        for collation in Collation::all() {
            let row = row(SqlType::NText, collation);
            assert_eq!(row.collation(), Some(collation));
            assert_ne!(row.status & column_status::NULLABLE, 0);
            assert_eq!(row.status & column_status::READ_ONLY, 0);
        }
        // As rows of earlier builds say it.
        let old =
            ColumnRow { collation: 3, status: 1, ..row(SqlType::NText, Collation::default()) };
        assert_eq!(old.collation(), Some(Collation::LATIN1_CI_AS));
        let none = ColumnRow { collation: 200, ..old };
        assert_eq!(none.collation(), None);
    }

    #[test]
    fn every_type_is_read_as_it_was_written() {
        let others = [
            SqlType::VARCHAR_MAX,
            SqlType::NVARCHAR_MAX,
            SqlType::VARBINARY_MAX,
            SqlType::decimal(12, 2),
            SqlType::Time(0),
            SqlType::nvarchar(1),
        ];
        for &t in types::ALL_TYPES.iter().chain(&others) {
            let row = row(t, Collation::default());
            assert_eq!(row.sql_type(), Some(t));
        }
    }
}
