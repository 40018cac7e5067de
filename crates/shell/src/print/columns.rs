//! How wide a column is, and on which side its values stand.
//!
//! The widths are ODBC's display sizes, except that sqlcmd gives the newer date and time types
//! the widths it does: 16 for date and time, 38 for datetime2, 45 for datetimeoffset.

use super::format::Format;
use session::ResultColumn;
use types::{CodePage, Length, SqlType};

/// A column of a printed table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct TableColumn {
    pub(crate) name: String,
    /// Characters of the name.
    pub(crate) name_width: usize,
    pub(crate) sql_type: SqlType,
    /// Of varchar.
    pub(crate) page: CodePage,
    /// Characters of the column; 0 for as many as a value has.
    pub(crate) width: usize,
    /// Values longer than this are cut; 0 for never.
    pub(crate) cut: usize,
    pub(crate) right: bool,
}

impl TableColumn {
    pub(crate) fn new(column: &ResultColumn, format: &Format) -> TableColumn {
        let name_width = column.name.chars().count();
        let shown = shown_width(column.sql_type, format);
        let unlimited = format.variable_width == 0;
        TableColumn {
            name: column.name.clone(),
            name_width,
            sql_type: column.sql_type,
            page: column.collation.code_page(),
            width: if unlimited { 0 } else { shown.max(name_width) },
            cut: if is_cut(column.sql_type) && !unlimited { shown.max(name_width) } else { 0 },
            right: column.sql_type.is_number() || column.sql_type.is_temporal(),
        }
    }
}

/// Strings and binaries are cut at their column's width, numbers never.
fn is_cut(sql_type: SqlType) -> bool {
    !(sql_type.is_number() || sql_type.is_temporal())
}

fn shown_width(sql_type: SqlType, format: &Format) -> usize {
    let full = display_size(sql_type);
    match sql_type {
        SqlType::UniqueIdentifier => full.unwrap_or(format.variable_width),
        _ if !is_cut(sql_type) => full.unwrap_or(format.variable_width),
        _ => match full {
            None => format.variable_width,
            Some(n) if format.fixed_width > 0 => n.min(format.fixed_width),
            Some(n) => n,
        },
    }
}

/// The most characters that a value of a type takes; `None` for max types.
fn display_size(sql_type: SqlType) -> Option<usize> {
    let counted = |n: Length| match n {
        Length::N(n) => Some(usize::from(n)),
        Length::Max => None,
    };
    Some(match sql_type {
        SqlType::Bit => 1,
        SqlType::TinyInt => 3,
        SqlType::SmallInt => 6,
        SqlType::Int => 11,
        SqlType::BigInt => 20,
        SqlType::Decimal { precision, .. } => usize::from(precision) + 2,
        SqlType::Money => 21,
        SqlType::SmallMoney => 12,
        SqlType::Real => 14,
        SqlType::Float => 24,
        SqlType::Date | SqlType::Time(_) => 16,
        SqlType::DateTime => 23,
        SqlType::SmallDateTime => 19,
        SqlType::DateTime2(_) => 38,
        SqlType::DateTimeOffset(_) => 45,
        SqlType::Char(n) | SqlType::NChar(n) => usize::from(n),
        SqlType::VarChar(n) | SqlType::NVarChar(n) => counted(n)?,
        // 0x and two digits a byte.
        SqlType::Binary(n) => usize::from(n) * 2 + 2,
        SqlType::RowVersion => 18,
        SqlType::VarBinary(n) => counted(n)? * 2 + 2,
        SqlType::UniqueIdentifier => 36,
        SqlType::Text | SqlType::NText | SqlType::Image => return None,
        SqlType::Variant => 8000,
        SqlType::Xml => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(name: &str, sql_type: SqlType, format: &Format) -> TableColumn {
        let collation = types::Collation::default();
        let name = name.to_owned();
        let (nullable, identity, computed) = (true, false, false);
        TableColumn::new(
            &ResultColumn {
                name,
                sql_type,
                collation,
                nullable,
                identity,
                computed,
                untyped: false,
            },
            format,
        )
    }

    #[test]
    fn widths_are_display_sizes_or_the_name() {
        let f = Format::default();
        let cases = [
            (SqlType::Bit, 1, true),
            (SqlType::TinyInt, 3, true),
            (SqlType::SmallInt, 6, true),
            (SqlType::Int, 11, true),
            (SqlType::BigInt, 20, true),
            (SqlType::decimal(10, 2), 12, true),
            (SqlType::Money, 21, true),
            (SqlType::SmallMoney, 12, true),
            (SqlType::Real, 14, true),
            (SqlType::Float, 24, true),
            (SqlType::Date, 16, true),
            (SqlType::Time(7), 16, true),
            (SqlType::DateTime, 23, true),
            (SqlType::SmallDateTime, 19, true),
            (SqlType::DateTime2(7), 38, true),
            (SqlType::DateTimeOffset(7), 45, true),
            (SqlType::Char(5), 5, false),
            (SqlType::varchar(30), 30, false),
            (SqlType::NChar(4000), 4000, false),
            (SqlType::nvarchar(128), 128, false),
            (SqlType::Binary(4), 10, false),
            (SqlType::varbinary(8), 18, false),
            (SqlType::UniqueIdentifier, 36, false),
            (SqlType::VARCHAR_MAX, 256, false),
            (SqlType::NVARCHAR_MAX, 256, false),
            (SqlType::VARBINARY_MAX, 256, false),
        ];
        for (sql_type, width, right) in cases {
            let c = column("", sql_type, &f);
            assert_eq!((c.width, c.right), (width, right), "{sql_type}");
            assert_eq!(column(&"n".repeat(5000), sql_type, &f).width, 5000, "{sql_type}");
        }
    }

    #[test]
    fn limits_hold_for_strings_and_binaries_only() {
        let f = Format { fixed_width: 8, variable_width: 10, ..Format::default() };
        let cases = [
            (SqlType::Char(5), 5),
            (SqlType::varchar(30), 8),
            (SqlType::varbinary(30), 8),
            (SqlType::VARCHAR_MAX, 10),
            (SqlType::Int, 11),
            (SqlType::UniqueIdentifier, 36),
        ];
        for (sql_type, width) in cases {
            assert_eq!(column("", sql_type, &f).width, width, "{sql_type}");
        }
        let all = Format { variable_width: 0, ..Format::default() };
        assert_eq!(column("a", SqlType::VARCHAR_MAX, &all).width, 0);
        assert_eq!(column("a", SqlType::Int, &all).cut, 0);
    }
}
