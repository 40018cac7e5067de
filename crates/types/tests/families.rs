//! The families of collations: their list, their orders, their code pages.

use std::cmp::Ordering::{self, Equal, Greater, Less};
use std::hash::{DefaultHasher, Hasher};
use types::{Collation, Value, append_sort_key, compare, hash};

fn of(name: &str) -> Collation {
    Collation::by_name(name).unwrap_or_else(|| panic!("{name} is a collation"))
}

/// SQL Server 2019's fn_helpcollations has 5,508 rows: 77 of them SQL collations.
#[test]
fn the_list_is_as_long_as_the_servers() {
    let names: Vec<&str> = Collation::listed().map(Collation::name).collect();
    assert_eq!(names.len(), 5508);
    assert_eq!(names.iter().filter(|name| name.starts_with("SQL_")).count(), 77);
    assert_eq!(names.iter().filter(|name| name.ends_with("_UTF8")).count(), 1553);
    let mut sorted = names.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(sorted.len(), names.len(), "each name stands once");
    for known in [
        "Latin1_General_100_CI_AS_SC_UTF8",
        "Latin1_General_100_BIN2_UTF8",
        "Japanese_XJIS_140_CS_AS_KS_WS_VSS_UTF8",
        "Chinese_PRC_90_CI_AS_KS_WS_SC",
        "SQL_EBCDIC1141_CP1_CS_AS",
        "Turkish_CI_AI",
    ] {
        assert!(names.contains(&known), "{known}");
    }
    for unknown in ["Latin1_General_CI_AS_SC", "Latin1_General_CI", "Klingon_CI_AS", "", "_"] {
        assert_eq!(Collation::by_name(unknown), None, "{unknown}");
    }
    // Known, though not listed.
    assert!(!names.contains(&"Macedonian_CI_AS"));
    of("Macedonian_CI_AS");
}

#[test]
fn descriptions_and_wire_bytes_are_the_servers() {
    for (name, text) in [
        ("Albanian_BIN2", "Albanian, binary code point comparison sort"),
        (
            "Azeri_Cyrillic_90_CI_AI_WS",
            "Azeri-Cyrillic-90, case-insensitive, accent-insensitive, kanatype-insensitive, \
             width-sensitive",
        ),
        (
            "SQL_Latin1_General_CP437_BIN2",
            "Latin1-General, binary code point comparison sort for Unicode Data, SQL Server Sort \
             Order 30 on Code Page 437 for non-Unicode Data",
        ),
        (
            "SQL_Danish_Pref_CP1_CI_AS",
            "Danish-Norwegian, case-insensitive, accent-sensitive, kanatype-insensitive, \
             width-insensitive for Unicode Data, SQL Server Sort Order 183 on Code Page 1252 for \
             non-Unicode Data",
        ),
    ] {
        assert_eq!(of(name).description(), text);
    }
    for (name, bytes) in [
        ("SQL_Latin1_General_CP1_CI_AS", [0x09, 0x04, 0xD0, 0x00, 0x34]),
        ("Chinese_PRC_CI_AS", [0x04, 0x08, 0xD0, 0x00, 0]),
        ("Chinese_PRC_Stroke_CI_AS", [0x04, 0x08, 0xD2, 0x00, 0]),
        ("Latin1_General_100_CI_AS_SC_UTF8", [0x09, 0x04, 0xD0, 0x24, 0]),
        ("Latin1_General_100_BIN2_UTF8", [0x09, 0x04, 0x00, 0x26, 0]),
        ("Japanese_XJIS_140_CS_AS_KS_WS", [0x11, 0x04, 0x00, 0x30, 0]),
        ("SQL_Ukrainian_CP1251_CS_AS", [0x22, 0x04, 0xC0, 0x00, 107]),
    ] {
        assert_eq!(of(name).tds_bytes(), bytes, "{name}");
        let back = Collation::by_tds_bytes(bytes).expect("a collation of these bytes");
        assert_eq!(back.tds_bytes(), bytes, "{name}");
        assert_eq!(back.code_page(), of(name).code_page(), "{name}");
    }
}

fn wide(name: &str, a: &str, b: &str) -> Ordering {
    compare(&Value::nvarchar(a), &Value::nvarchar(b), of(name))
}

/// varchar is in its collation's page.
fn narrow(name: &str, a: &str, b: &str) -> Ordering {
    let c = of(name);
    let value = |text: &str| Value::Char(c.code_page().encode(text).into());
    compare(&value(a), &value(b), c)
}

/// Words as dictionaries of their languages have them, in both encodings.
#[test]
fn languages_have_their_own_orders() {
    for (name, words) in [
        ("Finnish_Swedish_CI_AS", &["a", "z", "å", "ä", "ö"][..]),
        ("Finnish_Swedish_100_CI_AS", &["a", "z", "å", "ä", "ö"]),
        ("Danish_Norwegian_CI_AS", &["a", "z", "æ", "ø", "å"]),
        ("Danish_Greenlandic_100_CI_AS", &["a", "z", "æ", "ø", "å"]),
        ("Latin1_General_100_CI_AS", &["a", "å", "ä", "b", "o", "ö", "z"]),
        ("German_PhoneBook_CI_AS", &["ad", "ä", "af"]),
        ("French_CI_AS", &["cote", "côte", "coté", "côté"]),
        ("Traditional_Spanish_CI_AS", &["cz", "ch", "d", "lz", "ll", "m", "n", "ñ", "o"]),
        ("Modern_Spanish_CI_AS", &["cg", "ch", "cz", "d", "lk", "ll", "lz", "n", "ñ", "o"]),
        ("Czech_CI_AS", &["c", "č", "d", "h", "ch", "i"]),
        ("Slovak_100_CI_AS", &["a", "ä", "b", "h", "ch", "i"]),
        ("Polish_CI_AS", &["a", "ą", "b", "l", "ł", "m", "z", "ź", "ż"]),
        ("Hungarian_CI_AS", &["c", "cs", "d", "g", "gy", "h", "o", "ö", "p"]),
        ("Croatian_CI_AS", &["c", "č", "ć", "d", "dž", "đ", "e", "l", "lj", "m"]),
        ("Romanian_CI_AS", &["a", "ă", "â", "b"]),
        ("Estonian_CI_AS", &["s", "š", "z", "ž", "t", "õ", "ä", "ö", "ü"]),
        ("Latvian_CI_AS", &["c", "č", "d", "g", "ģ", "h"]),
        ("Lithuanian_CI_AS", &["c", "č", "d", "i", "y", "j", "z", "ž"]),
        ("Turkish_CI_AS", &["c", "ç", "d", "g", "ğ", "h", "ı", "i", "j", "o", "ö", "s", "ş"]),
        ("Icelandic_CI_AS", &["d", "ð", "e", "z", "þ", "æ", "ö"]),
        ("Greek_CI_AS", &["α", "β", "γ", "ω"]),
        ("Cyrillic_General_CI_AS", &["z", "а", "б", "е", "ё", "ж", "я"]),
        ("Ukrainian_CI_AS", &["z", "г", "ґ", "д", "е", "є", "и", "і", "ї", "й"]),
        ("Hebrew_CI_AS", &["z", "א", "ב", "ת"]),
        ("Arabic_CI_AS", &["z", "ا", "ب", "ي"]),
        ("Thai_CI_AS", &["z", "ก", "เก", "ข", "เข", "ฮ"]),
        ("Vietnamese_CI_AS", &["a", "ă", "â", "b", "d", "đ", "e", "ê", "o", "ô", "ơ", "u", "ư"]),
        ("Japanese_CI_AS", &["a", "あ", "い", "か", "が", "亜"]),
        ("Chinese_PRC_CI_AS", &["z", "阿", "北", "中"]),
        ("Chinese_PRC_Stroke_CI_AS", &["z", "一", "人", "大", "中"]),
        ("Chinese_Taiwan_Stroke_CI_AS", &["z", "一", "人", "大", "中"]),
        ("Korean_Wansung_CI_AS", &["z", "가", "나", "하"]),
        ("SQL_Polish_CP1250_CI_AS", &["a", "ą", "b", "l", "ł", "m"]),
        ("SQL_Latin1_General_CP1251_CS_AS", &["z", "а", "А", "б"]),
    ] {
        for (i, a) in words.iter().enumerate() {
            for (j, b) in words.iter().enumerate() {
                assert_eq!(wide(name, a, b), i.cmp(&j), "{name} nvarchar {a} {b}");
                let page = of(name).code_page();
                if [a, b].iter().all(|word| page.decode(&page.encode(word)) == **word) {
                    assert_eq!(narrow(name, a, b), i.cmp(&j), "{name} varchar {a} {b}");
                }
            }
        }
    }
}

/// What a style makes equal and what it tells apart.
#[test]
fn styles_tell_apart_what_they_name() {
    for (name, a, b, equal) in [
        ("Latin1_General_100_CI_AS", "a", "A", true),
        ("Latin1_General_100_CI_AS", "a", "á", false),
        ("Latin1_General_100_CI_AI", "a", "Á", true),
        ("Latin1_General_100_CS_AI", "a", "á", true),
        ("Latin1_General_100_CS_AI", "a", "A", false),
        ("Latin1_General_CS_AI", "a", "á", true),
        ("Latin1_General_CS_AI", "a", "A", false),
        ("Latin1_General_100_CS_AS", "a", "a  ", true),
        ("Latin1_General_100_CI_AS", "co-op", "coop", false),
        ("Latin1_General_100_CI_AS", "ß", "ss", true),
        ("Greek_CI_AI", "ά", "α", true),
        ("Greek_CI_AS", "ά", "α", false),
        ("Greek_CI_AS", "ς", "Σ", true),
        ("Turkish_CI_AS", "i", "I", false),
        ("Turkish_CI_AS", "i", "İ", true),
        ("Turkish_CI_AS", "ı", "I", true),
        ("Latin1_General_100_CI_AS", "i", "I", true),
        ("Japanese_CI_AS", "あ", "ア", true),
        ("Japanese_CI_AS_KS", "あ", "ア", false),
        ("Japanese_CI_AS", "ア", "ｱ", true),
        ("Japanese_CI_AS_WS", "ア", "ｱ", false),
        ("Japanese_CI_AS_KS_WS", "ａ", "a", false),
        ("Japanese_CI_AS", "ａ", "A", true),
        ("Japanese_CS_AS", "ａ", "a", true),
        ("Japanese_CS_AS", "ａ", "A", false),
        ("Japanese_CI_AS", "は", "ぱ", false),
        ("Japanese_CI_AI", "は", "ぱ", true),
        ("Latin1_General_CI_AS_KS", "あ", "ア", false),
        ("Latin1_General_CI_AS_WS", "ａ", "a", false),
        ("Japanese_XJIS_140_CI_AS", "葛\u{FE00}", "葛", true),
        ("Japanese_XJIS_140_CI_AS_VSS", "葛\u{FE00}", "葛", false),
        ("Japanese_XJIS_140_CI_AS_VSS", "葛\u{E0100}", "葛\u{E0101}", false),
        ("Chinese_PRC_BIN2", "a", "A", false),
        ("Latin1_General_100_BIN2_UTF8", "a", "a ", true),
        ("Korean_90_CI_AS", "가", "각", false),
        ("Thai_CI_AS", "ก", "ข", false),
        ("Hebrew_CI_AS", "א", "ב", false),
    ] {
        assert_eq!(wide(name, a, b) == Equal, equal, "{name} {a:?} {b:?}");
    }
    assert_eq!(wide("Latin1_General_100_CI_AS", "coop", "co-op"), Less);
    assert_eq!(wide("Latin1_General_100_CI_AS", "co-op", "coopa"), Less);
    assert_eq!(wide("Latin1_General_100_CS_AS", "a", "A"), Less);
    assert_eq!(wide("Danish_Norwegian_CS_AS", "A", "a"), Greater);
}

/// Collations of each family and style that has an order of its own.
fn judged() -> Vec<Collation> {
    let styles = ["CI_AS", "CS_AS", "CI_AI", "CS_AI_KS_WS", "BIN2"];
    let mut found = Vec::new();
    for family in [
        "Latin1_General",
        "Latin1_General_100",
        "Greek_100",
        "Cyrillic_General",
        "Turkish",
        "Czech",
        "French",
        "Lithuanian",
        "Hebrew",
        "Arabic",
        "Thai",
        "Vietnamese",
        "Japanese",
        "Chinese_PRC",
        "Chinese_Taiwan_Bopomofo",
        "Korean_Wansung",
    ] {
        found.extend(styles.map(|style| of(&format!("{family}_{style}"))));
    }
    found.extend(["Japanese_XJIS_140_CI_AS_VSS", "Latin1_General_100_CI_AS_SC_UTF8"].map(of));
    found.extend(["SQL_Polish_CP1250_CI_AS", "SQL_Latin1_General_CP437_CS_AS"].map(of));
    found
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) as usize % n
    }
}

fn hashed(value: &Value, c: Collation) -> u64 {
    let mut state = DefaultHasher::new();
    hash(value, c, &mut state);
    state.finish()
}

fn key(value: &Value, c: Collation) -> Vec<u8> {
    let mut out = Vec::new();
    append_sort_key(value, c, usize::MAX, &mut out);
    out
}

/// Order, equality, hash and sort key of random strings agree; no key begins another.
#[test]
fn orders_keys_and_hashes_agree() {
    let letters: Vec<char> = "aAbBcChHiIıİlLsSzZéèâäåñßæøþčćđłőşżžαάΣςабёґіїאבابيกเข"
        .chars()
        .chain("あアｱぁか\u{3099}がハ\u{309A}ﾊﾟー亜中国人가각한ａＡ１１½ -''..\u{AD}\t\u{1}\u{0}\u{FE00}😀😁".chars())
        .chain(['\u{301}', '\u{308}', '\u{3000}', '\u{A0}', '\u{E0100}'])
        .collect();
    let mut random = Random(7);
    for c in judged() {
        let page = c.code_page();
        for narrow in [false, true] {
            let mut values = Vec::new();
            for _ in 0..60 {
                let length = random.below(6);
                let from = random.below(letters.len() - 8);
                let near = random.below(2) == 0;
                let pick = |random: &mut Random| match near {
                    true => letters[from + random.below(8)],
                    false => letters[random.below(letters.len())],
                };
                let text: String = (0..length).map(|_| pick(&mut random)).collect();
                // Also before a blank that does not end the text, though nothing with a weight of
                // its own follows.
                let marked = format!("{text} \u{301}");
                let more = (random.below(4) == 0).then_some(&marked);
                values.extend(std::iter::once(&text).chain(more).map(|text| match narrow {
                    true => Value::Char(page.encode(text).into()),
                    false => Value::nvarchar(text),
                }));
            }
            judge(&values, c);
        }
    }
}

fn judge(values: &[Value], c: Collation) {
    let keys: Vec<Vec<u8>> = values.iter().map(|v| key(v, c)).collect();
    for (a, x) in values.iter().zip(&keys) {
        for (b, y) in values.iter().zip(&keys) {
            let order = compare(a, b, c);
            // Keys are bytes in an order that is one: so is this.
            assert_eq!(order, x.cmp(y), "{c:?}: {a:?} {b:?} {x:x?} {y:x?}");
            assert_eq!(order, compare(b, a, c).reverse(), "{c:?}: {a:?} {b:?}");
            if order == Equal {
                assert_eq!(hashed(a, c), hashed(b, c), "{c:?}: {a:?} {b:?}");
            } else {
                assert!(!y.starts_with(x), "{c:?}: the key of {a:?} begins that of {b:?}");
            }
        }
    }
}

/// Whatever a collation says of itself on the wire is found again, or one that says the same.
#[test]
fn the_wire_knows_every_collation() {
    for c in Collation::all().step_by(7).chain(Collation::first()) {
        let back = Collation::by_tds_bytes(c.tds_bytes()).expect("a collation of these bytes");
        assert_eq!(back.tds_bytes(), c.tds_bytes(), "{c:?} {back:?}");
        assert_eq!(back.code_page(), c.code_page(), "{c:?} {back:?}");
    }
    for bytes in [[0; 5], [0xFF; 5], [9, 4, 0xD0, 0xF0, 0], [9, 4, 0xD0, 0, 1]] {
        assert_eq!(Collation::by_tds_bytes(bytes), None, "{bytes:?}");
    }
}

/// Turkish upper and lower case, pairs and code pages are asked of a collation.
#[test]
fn facts_of_collations() {
    for (name, page, lcid, style, version) in [
        ("Latin1_General_CI_AS", 1252, 1033, 196_609, 0),
        ("Traditional_Spanish_CS_AS_KS_WS", 1252, 1034, 0, 0),
        ("Latin1_General_100_CI_AI_SC_UTF8", 65001, 1033, 196_611, 2),
        ("Chinese_PRC_90_CS_AI_WS", 936, 2052, 65_538, 1),
        ("Japanese_Bushu_Kakusu_140_BIN2", 932, 263_185, 0, 3),
        ("SQL_Latin1_General_CP850_CI_AI", 850, 1033, 196_611, 0),
    ] {
        let c = of(name);
        let facts = (c.code_page().number(), c.lcid(), c.comparison_style(), c.version());
        assert_eq!(facts, (page, lcid, style, version), "{name}");
    }
    assert!(of("Indic_General_100_CI_AS").is_unicode_only());
    assert!(!of("Indic_General_100_CI_AS_SC_UTF8").is_unicode_only());
    assert!(of("Azeri_Latin_100_CI_AS").is_turkic());
    assert!(of("Latin1_General_100_CI_AS").order_version() > 0);
    assert!(Collation::first().all(|first| first.order_version() == 0));
}
