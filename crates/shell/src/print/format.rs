//! How results are laid out: what -h, -s, -W, -w, -y, -Y and -m say, and their SQLCMD variables.

/// The settings of one batch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Format {
    /// Between columns.
    pub(crate) separator: String,
    /// Rows between headers: 0 for one header per result, -1 for none.
    pub(crate) headers: i64,
    /// Columns are as wide as their values, which lose trailing blanks.
    pub(crate) trim: bool,
    /// Lines are broken at this many characters; 0 for never.
    pub(crate) screen_width: usize,
    /// Characters shown of a max type; 0 for all, and no headers then.
    pub(crate) variable_width: usize,
    /// Characters shown of other strings and binaries; 0 for all.
    pub(crate) fixed_width: usize,
    /// Errors below are not printed; -1 gives all messages their headers.
    pub(crate) error_level: i32,
}

impl Default for Format {
    fn default() -> Format {
        Format {
            separator: " ".to_owned(),
            headers: 0,
            trim: false,
            screen_width: 0,
            variable_width: 256,
            fixed_width: 0,
            error_level: 0,
        }
    }
}

impl Format {
    /// Whether column names are printed at all.
    pub(crate) fn has_headers(&self) -> bool {
        self.headers >= 0 && self.variable_width > 0
    }
}
