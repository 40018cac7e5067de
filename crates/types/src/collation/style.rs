//! The style of a collation: what follows its family in its name.

/// Bits, as they stand in a collation's number on disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub(super) struct Style(pub(super) u8);

impl Style {
    pub(super) const CASE: u8 = 1;
    pub(super) const ACCENT: u8 = 2;
    pub(super) const KANA: u8 = 4;
    pub(super) const WIDTH: u8 = 8;
    pub(super) const SUPPLEMENTARY: u8 = 16;
    pub(super) const UTF8: u8 = 32;
    pub(super) const SELECTORS: u8 = 64;
    pub(super) const BINARY: u8 = 128;
    /// Of two bits: BIN2.
    pub(super) const BIN: Style = Style(Style::BINARY);
    pub(super) const BIN2: Style = Style(Style::BINARY | 1);

    #[inline]
    pub(super) fn has(self, bit: u8) -> bool {
        self.0 & bit != 0
    }

    pub(super) fn is_binary(self) -> bool {
        self.has(Style::BINARY)
    }

    pub(super) fn is_case_sensitive(self) -> bool {
        self.has(Style::CASE | Style::BINARY)
    }

    /// As names spell it: `CI_AS_KS_WS_SC_UTF8`.
    pub(super) fn name(self, version: u8) -> String {
        if self.is_binary() {
            let name = if self.has(1) { "BIN2" } else { "BIN" };
            return match self.has(Style::UTF8) {
                true => format!("{name}_UTF8"),
                false => name.to_owned(),
            };
        }
        let mut name = String::from(if self.has(Style::CASE) { "CS" } else { "CI" });
        name.push_str(if self.has(Style::ACCENT) { "_AS" } else { "_AI" });
        // Names of version 140 do not say what all of them have.
        let told = if version < 3 { Style::SUPPLEMENTARY } else { 0 };
        for (bit, part) in [
            (Style::KANA, "_KS"),
            (Style::WIDTH, "_WS"),
            (Style::SELECTORS, "_VSS"),
            (told, "_SC"),
            (Style::UTF8, "_UTF8"),
        ] {
            if self.has(bit) {
                name.push_str(part);
            }
        }
        name
    }

    /// Every style of a family of a version, in the order in which they are listed.
    pub(super) fn all(version: u8) -> Vec<Style> {
        let mut all = vec![Style::BIN, Style::BIN2];
        let with: &[u8] = match version {
            0 => &[0],
            1 | 2 => &[0, Style::SUPPLEMENTARY, Style::SUPPLEMENTARY | Style::UTF8],
            _ => &[
                Style::SUPPLEMENTARY | Style::SELECTORS,
                Style::SUPPLEMENTARY,
                Style::SUPPLEMENTARY | Style::SELECTORS | Style::UTF8,
                Style::SUPPLEMENTARY | Style::UTF8,
            ],
        };
        for more in with {
            for letters in [0, Style::ACCENT, Style::CASE, Style::CASE | Style::ACCENT] {
                for forms in [0, Style::WIDTH, Style::KANA, Style::KANA | Style::WIDTH] {
                    all.push(Style(letters | forms | more));
                }
            }
        }
        all
    }

    /// As `fn_helpcollations` describes it.
    pub(super) fn description(self, version: u8) -> String {
        if self.is_binary() {
            let kind =
                if self.has(1) { "binary code point comparison sort" } else { "binary sort" };
            return if self.has(Style::UTF8) { format!("{kind}, UTF8") } else { kind.to_owned() };
        }
        let mut text = String::new();
        for (bit, what) in [
            (Style::CASE, "case"),
            (Style::ACCENT, "accent"),
            (Style::KANA, "kanatype"),
            (Style::WIDTH, "width"),
        ] {
            let separator = if text.is_empty() { "" } else { ", " };
            let how = if self.has(bit) { "sensitive" } else { "insensitive" };
            text.push_str(&format!("{separator}{what}-{how}"));
        }
        if self.has(Style::SUPPLEMENTARY) {
            text.push_str(", supplementary characters");
        }
        if version == 3 {
            let how = if self.has(Style::SELECTORS) { "sensitive" } else { "insensitive" };
            text.push_str(&format!(", variation selector {how}"));
        }
        if self.has(Style::UTF8) {
            text.push_str(", UTF8");
        }
        text
    }

    /// COLLATIONPROPERTY's ComparisonStyle: what is ignored.
    pub(super) fn comparison_style(self) -> i32 {
        if self.is_binary() {
            return 0;
        }
        let ignored = |bit: u8, flag: i32| if self.has(bit) { 0 } else { flag };
        ignored(Style::CASE, 1)
            | ignored(Style::ACCENT, 2)
            | ignored(Style::KANA, 0x1_0000)
            | ignored(Style::WIDTH, 0x2_0000)
    }

    /// The style that bits 20 to 27 on the wire say, and the version: the least of several.
    pub(super) fn of_wire(flags: u32, version: u8) -> Style {
        let counted = |flag: u32, bit: u8| if flags & flag == 0 { bit } else { 0 };
        let utf8 = if flags & 0x40 == 0 { 0 } else { Style::UTF8 };
        match flags & 0x30 {
            0x20 => Style(Style::BIN2.0 | utf8),
            0x10 => Style::BIN,
            _ => {
                let pairs = utf8 != 0 || version == 3;
                Style(
                    counted(1, Style::CASE)
                        | counted(2, Style::ACCENT)
                        | counted(4, Style::KANA)
                        | counted(8, Style::WIDTH)
                        | if pairs { Style::SUPPLEMENTARY } else { 0 }
                        | utf8,
                )
            }
        }
    }

    /// Bits 20 to 27 of the collation on the wire.
    pub(super) fn wire_flags(self) -> u32 {
        let ignored = |bit: u8, flag: u32| if self.has(bit) { 0 } else { flag };
        let order = match self.is_binary() {
            true if self.has(1) => 0x20,
            true => 0x10,
            false => {
                ignored(Style::CASE, 1)
                    | ignored(Style::ACCENT, 2)
                    | ignored(Style::KANA, 4)
                    | ignored(Style::WIDTH, 8)
            }
        };
        if self.has(Style::UTF8) { order | 0x40 } else { order }
    }
}
