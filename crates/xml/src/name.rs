//! Which characters XML allows, and which of them names are made of.

/// A character that a document may hold.
pub fn is_xml_char(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..)
}

/// The first character of a name; colons are the caller's.
pub fn is_name_start(c: char) -> bool {
    match c {
        'a'..='z' | 'A'..='Z' | '_' => true,
        _ if c.is_ascii() => false,
        '\u{D7}' | '\u{F7}' | '\u{37E}' => false,
        '\u{C0}'..='\u{2FF}' | '\u{370}'..='\u{1FFF}' | '\u{200C}' | '\u{200D}' => true,
        '\u{2070}'..='\u{218F}' | '\u{2C00}'..='\u{2FEF}' | '\u{3001}'..='\u{D7FF}' => true,
        '\u{F900}'..='\u{FDCF}' | '\u{FDF0}'..='\u{FFFD}' | '\u{10000}'..='\u{EFFFF}' => true,
        _ => false,
    }
}

/// A character of a name behind its first; colons are the caller's.
pub fn is_name_char(c: char) -> bool {
    is_name_start(c)
        || matches!(c, '0'..='9' | '-' | '.' | '\u{B7}')
        || matches!(c, '\u{300}'..='\u{36F}' | '\u{203F}' | '\u{2040}')
}

/// A whole name without colon.
pub fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(is_name_start) && chars.all(is_name_char)
}
