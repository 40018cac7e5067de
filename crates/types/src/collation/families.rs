//! The families of collations: what a name stands for before its style.
//!
//! A Windows family has a locale, a version and a code page, and is combined with each style; a
//! SQL sort order is one whole collation, whose nvarchar follows the rules of a Windows family of
//! the first version.
//!
//! Invariants
//!  1. A family's place in its table is its number on disk: rows are added at the end, none goes.
//!  2. With all styles they make the 5,508 names that SQL Server lists, and six families more that
//!     it knows and does not list.
//!
//! Names, locales, code pages and sort ids are those of the reference pages of SQL Server and of
//! the tables in its drivers. Sort ids 218 and 219 are a guess: no source has them.

use super::code_page::CodePage;

/// A Windows family.
pub(super) struct Family {
    /// With its version: `Latin1_General_100`.
    pub(super) name: &'static str,
    pub(super) lcid: u32,
    /// 0 is 80, 1 is 90, 2 is 100, 3 is 140.
    pub(super) version: u8,
    /// None where text is nvarchar or UTF-8 alone.
    pub(super) page: Option<CodePage>,
    /// The locale whose rules of ICU order it.
    pub(super) locale: &'static str,
    /// Whether `fn_helpcollations` has it.
    pub(super) listed: bool,
}

/// How a SQL sort order orders varchar.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SqlRule {
    /// By the weights of sort orders 51 to 54.
    Own,
    /// By the rules of its family; hyphens and apostrophes are symbols.
    Words,
    /// By code.
    Codes,
    /// Its table is published nowhere.
    Unknown,
}

/// A SQL sort order.
pub(super) struct SqlOrder {
    pub(super) name: &'static str,
    pub(super) sort_id: u8,
    pub(super) page: CodePage,
    /// The family of nvarchar.
    pub(super) unicode: &'static str,
    pub(super) rule: SqlRule,
}

const fn family(
    name: &'static str,
    lcid: u32,
    version: u8,
    page: Option<CodePage>,
    locale: &'static str,
) -> Family {
    Family { name, lcid, version, page, locale, listed: true }
}

impl Family {
    const fn unlisted(self) -> Family {
        Family { listed: false, ..self }
    }
}

const fn sort(
    name: &'static str,
    sort_id: u8,
    page: CodePage,
    unicode: &'static str,
    rule: SqlRule,
) -> SqlOrder {
    SqlOrder { name, sort_id, page, unicode, rule }
}

use CodePage as P;

/// Every Windows family; `und` is the order that all languages share.
pub(super) static FAMILIES: [Family; 137] = [
    family("Albanian", 0x0041C, 0, Some(P::Cp1250), "sq"),
    family("Arabic", 0x00401, 0, Some(P::Cp1256), "ar"),
    family("Chinese_PRC", 0x00804, 0, Some(P::Cp936), "zh"),
    family("Chinese_PRC_Stroke", 0x20804, 0, Some(P::Cp936), "zh-u-co-stroke"),
    family("Chinese_Taiwan_Bopomofo", 0x30404, 0, Some(P::Cp950), "zh-Hant-u-co-zhuyin"),
    family("Chinese_Taiwan_Stroke", 0x00404, 0, Some(P::Cp950), "zh-Hant-u-co-stroke"),
    family("Croatian", 0x0041A, 0, Some(P::Cp1250), "hr"),
    family("Cyrillic_General", 0x00419, 0, Some(P::Cp1251), "ru"),
    family("Czech", 0x00405, 0, Some(P::Cp1250), "cs"),
    family("Danish_Norwegian", 0x00406, 0, Some(P::Cp1252), "da"),
    family("Estonian", 0x00425, 0, Some(P::Cp1257), "et"),
    family("Finnish_Swedish", 0x0040B, 0, Some(P::Cp1252), "sv"),
    family("French", 0x0040C, 0, Some(P::Cp1252), "fr-CA"),
    family("Georgian_Modern_Sort", 0x10437, 0, Some(P::Cp1252), "ka"),
    family("German_PhoneBook", 0x10407, 0, Some(P::Cp1252), "de-u-co-phonebk"),
    family("Greek", 0x00408, 0, Some(P::Cp1253), "el"),
    family("Hebrew", 0x0040D, 0, Some(P::Cp1255), "he"),
    family("Hungarian", 0x0040E, 0, Some(P::Cp1250), "hu"),
    family("Hungarian_Technical", 0x1040E, 0, Some(P::Cp1250), "und"),
    family("Icelandic", 0x0040F, 0, Some(P::Cp1252), "is"),
    family("Japanese", 0x00411, 0, Some(P::Cp932), "ja"),
    family("Japanese_Unicode", 0x10411, 0, Some(P::Cp932), "und"),
    family("Korean_Wansung", 0x00412, 0, Some(P::Cp949), "ko"),
    family("Latin1_General", 0x00409, 0, Some(P::Cp1252), "und"),
    family("Latvian", 0x00426, 0, Some(P::Cp1257), "lv"),
    family("Lithuanian", 0x00427, 0, Some(P::Cp1257), "lt"),
    family("Modern_Spanish", 0x00C0A, 0, Some(P::Cp1252), "es"),
    family("Polish", 0x00415, 0, Some(P::Cp1250), "pl"),
    family("Romanian", 0x00418, 0, Some(P::Cp1250), "ro"),
    family("Slovak", 0x0041B, 0, Some(P::Cp1250), "sk"),
    family("Slovenian", 0x00424, 0, Some(P::Cp1250), "sl"),
    family("Thai", 0x0041E, 0, Some(P::Cp874), "th"),
    family("Traditional_Spanish", 0x0040A, 0, Some(P::Cp1252), "es-u-co-trad"),
    family("Turkish", 0x0041F, 0, Some(P::Cp1254), "tr"),
    family("Ukrainian", 0x00422, 0, Some(P::Cp1251), "uk"),
    family("Vietnamese", 0x0042A, 0, Some(P::Cp1258), "vi"),
    family("Chinese_Hong_Kong_Stroke_90", 0x00C04, 1, Some(P::Cp950), "zh-Hant-u-co-stroke"),
    family("Chinese_PRC_90", 0x00804, 1, Some(P::Cp936), "zh"),
    family("Chinese_PRC_Stroke_90", 0x20804, 1, Some(P::Cp936), "zh-u-co-stroke"),
    family("Chinese_Taiwan_Bopomofo_90", 0x30404, 1, Some(P::Cp950), "zh-Hant-u-co-zhuyin"),
    family("Chinese_Taiwan_Stroke_90", 0x00404, 1, Some(P::Cp950), "zh-Hant-u-co-stroke"),
    family("Divehi_90", 0x00465, 1, None, "und"),
    family("Indic_General_90", 0x00439, 1, None, "hi"),
    family("Japanese_90", 0x00411, 1, Some(P::Cp932), "ja"),
    family("Kazakh_90", 0x0043F, 1, Some(P::Cp1251), "kk"),
    family("Korean_90", 0x00412, 1, Some(P::Cp949), "ko"),
    family("Macedonian_FYROM_90", 0x0042F, 1, Some(P::Cp1251), "mk"),
    family("Syriac_90", 0x0045A, 1, None, "und"),
    family("Tatar_90", 0x00444, 1, Some(P::Cp1251), "und"),
    family("Uzbek_Latin_90", 0x00443, 1, Some(P::Cp1254), "uz"),
    family("Albanian_100", 0x0041C, 2, Some(P::Cp1250), "sq"),
    family("Arabic_100", 0x00401, 2, Some(P::Cp1256), "ar"),
    family("Assamese_100", 0x0044D, 2, None, "as"),
    family("Azeri_Cyrillic_100", 0x0082C, 2, Some(P::Cp1251), "und"),
    family("Azeri_Latin_100", 0x0042C, 2, Some(P::Cp1254), "az"),
    family("Bashkir_100", 0x0046D, 2, Some(P::Cp1251), "und"),
    family("Bengali_100", 0x00445, 2, None, "bn"),
    family("Bosnian_Cyrillic_100", 0x0201A, 2, Some(P::Cp1251), "bs-Cyrl"),
    family("Bosnian_Latin_100", 0x0141A, 2, Some(P::Cp1250), "bs"),
    family("Breton_100", 0x0047E, 2, Some(P::Cp1252), "br"),
    family("Chinese_Simplified_Pinyin_100", 0x00804, 2, Some(P::Cp936), "zh"),
    family("Chinese_Simplified_Stroke_Order_100", 0x20804, 2, Some(P::Cp936), "zh-u-co-stroke"),
    family("Chinese_Traditional_Bopomofo_100", 0x30404, 2, Some(P::Cp950), "zh-Hant-u-co-zhuyin"),
    family("Chinese_Traditional_Pinyin_100", 0x01404, 2, Some(P::Cp950), "zh"),
    family(
        "Chinese_Traditional_Stroke_Count_100",
        0x00404,
        2,
        Some(P::Cp950),
        "zh-Hant-u-co-stroke",
    ),
    family(
        "Chinese_Traditional_Stroke_Order_100",
        0x21404,
        2,
        Some(P::Cp950),
        "zh-Hant-u-co-stroke",
    ),
    family("Corsican_100", 0x00483, 2, Some(P::Cp1252), "und"),
    family("Croatian_100", 0x0041A, 2, Some(P::Cp1250), "hr"),
    family("Cyrillic_General_100", 0x00419, 2, Some(P::Cp1251), "ru"),
    family("Czech_100", 0x00405, 2, Some(P::Cp1250), "cs"),
    family("Danish_Greenlandic_100", 0x00406, 2, Some(P::Cp1252), "da"),
    family("Dari_100", 0x0048C, 2, Some(P::Cp1256), "fa-AF"),
    family("Divehi_100", 0x00465, 2, None, "und"),
    family("Estonian_100", 0x00425, 2, Some(P::Cp1257), "et"),
    family("Finnish_Swedish_100", 0x0040B, 2, Some(P::Cp1252), "sv"),
    family("French_100", 0x0040C, 2, Some(P::Cp1252), "fr-CA"),
    family("Frisian_100", 0x00462, 2, Some(P::Cp1252), "und"),
    family("Georgian_Modern_Sort_100", 0x10437, 2, Some(P::Cp1252), "ka"),
    family("German_PhoneBook_100", 0x10407, 2, Some(P::Cp1252), "de-u-co-phonebk"),
    family("Greek_100", 0x00408, 2, Some(P::Cp1253), "el"),
    family("Hebrew_100", 0x0040D, 2, Some(P::Cp1255), "he"),
    family("Hungarian_100", 0x0040E, 2, Some(P::Cp1250), "hu"),
    family("Hungarian_Technical_100", 0x1040E, 2, Some(P::Cp1250), "und"),
    family("Icelandic_100", 0x0040F, 2, Some(P::Cp1252), "is"),
    family("Indic_General_100", 0x00439, 2, None, "hi"),
    family("Japanese_Bushu_Kakusu_100", 0x40411, 2, Some(P::Cp932), "ja-u-co-unihan"),
    family("Japanese_XJIS_100", 0x00411, 2, Some(P::Cp932), "ja"),
    family("Kazakh_100", 0x0043F, 2, Some(P::Cp1251), "kk"),
    family("Khmer_100", 0x00453, 2, None, "km"),
    family("Korean_100", 0x00412, 2, Some(P::Cp949), "ko"),
    family("Lao_100", 0x00454, 2, None, "lo"),
    family("Latin1_General_100", 0x00409, 2, Some(P::Cp1252), "und"),
    family("Latvian_100", 0x00426, 2, Some(P::Cp1257), "lv"),
    family("Lithuanian_100", 0x00427, 2, Some(P::Cp1257), "lt"),
    family("Macedonian_FYROM_100", 0x0042F, 2, Some(P::Cp1251), "mk"),
    family("Maltese_100", 0x0043A, 2, None, "mt"),
    family("Maori_100", 0x00481, 2, None, "und"),
    family("Mapudungan_100", 0x0047A, 2, Some(P::Cp1252), "und"),
    family("Modern_Spanish_100", 0x00C0A, 2, Some(P::Cp1252), "es"),
    family("Mohawk_100", 0x0047C, 2, Some(P::Cp1252), "und"),
    family("Nepali_100", 0x00461, 2, None, "ne"),
    family("Norwegian_100", 0x00414, 2, Some(P::Cp1252), "no"),
    family("Pashto_100", 0x00463, 2, None, "ps"),
    family("Persian_100", 0x00429, 2, Some(P::Cp1256), "fa"),
    family("Polish_100", 0x00415, 2, Some(P::Cp1250), "pl"),
    family("Romanian_100", 0x00418, 2, Some(P::Cp1250), "ro"),
    family("Romansh_100", 0x00417, 2, Some(P::Cp1252), "und"),
    family("Sami_Norway_100", 0x0043B, 2, Some(P::Cp1252), "se"),
    family("Sami_Sweden_Finland_100", 0x0083B, 2, Some(P::Cp1252), "se"),
    family("Serbian_Cyrillic_100", 0x00C1A, 2, Some(P::Cp1251), "sr"),
    family("Serbian_Latin_100", 0x0081A, 2, Some(P::Cp1250), "sr-Latn"),
    family("Slovak_100", 0x0041B, 2, Some(P::Cp1250), "sk"),
    family("Slovenian_100", 0x00424, 2, Some(P::Cp1250), "sl"),
    family("Syriac_100", 0x0045A, 2, None, "und"),
    family("Tamazight_100", 0x0085F, 2, Some(P::Cp1252), "und"),
    family("Tatar_100", 0x00444, 2, Some(P::Cp1251), "und"),
    family("Thai_100", 0x0041E, 2, Some(P::Cp874), "th"),
    family("Tibetan_100", 0x00451, 2, None, "und"),
    family("Traditional_Spanish_100", 0x0040A, 2, Some(P::Cp1252), "es-u-co-trad"),
    family("Turkish_100", 0x0041F, 2, Some(P::Cp1254), "tr"),
    family("Turkmen_100", 0x00442, 2, Some(P::Cp1250), "tk"),
    family("Uighur_100", 0x00480, 2, Some(P::Cp1256), "ug"),
    family("Ukrainian_100", 0x00422, 2, Some(P::Cp1251), "uk"),
    family("Upper_Sorbian_100", 0x0042E, 2, Some(P::Cp1252), "hsb"),
    family("Urdu_100", 0x00420, 2, Some(P::Cp1256), "ur"),
    family("Uzbek_Latin_100", 0x00443, 2, Some(P::Cp1254), "uz"),
    family("Vietnamese_100", 0x0042A, 2, Some(P::Cp1258), "vi"),
    family("Welsh_100", 0x00452, 2, Some(P::Cp1252), "cy"),
    family("Yakut_100", 0x00485, 2, Some(P::Cp1251), "und"),
    family("Japanese_Bushu_Kakusu_140", 0x40411, 3, Some(P::Cp932), "ja-u-co-unihan"),
    family("Japanese_XJIS_140", 0x00411, 3, Some(P::Cp932), "ja"),
    family("Azeri_Cyrillic_90", 0x0082C, 1, Some(P::Cp1251), "und").unlisted(),
    family("Azeri_Latin_90", 0x0042C, 1, Some(P::Cp1254), "az").unlisted(),
    family("Hindi", 0x00439, 0, None, "hi").unlisted(),
    family("Korean_Wansung_Unicode", 0x10412, 0, Some(P::Cp949), "und").unlisted(),
    family("Lithuanian_Classic", 0x00827, 0, Some(P::Cp1257), "lt").unlisted(),
    family("Macedonian", 0x0042F, 0, Some(P::Cp1251), "mk").unlisted(),
];

/// Every SQL sort order.
pub(super) static SORTS: [SqlOrder; 77] = [
    sort("SQL_Latin1_General_CP437_BIN", 30, P::Cp437, "Latin1_General", SqlRule::Codes),
    sort("SQL_Latin1_General_CP437_CS_AS", 31, P::Cp437, "Latin1_General", SqlRule::Words),
    sort("SQL_Latin1_General_CP437_CI_AS", 32, P::Cp437, "Latin1_General", SqlRule::Words),
    sort("SQL_Latin1_General_Pref_CP437_CI_AS", 33, P::Cp437, "Latin1_General", SqlRule::Words),
    sort("SQL_Latin1_General_CP437_CI_AI", 34, P::Cp437, "Latin1_General", SqlRule::Words),
    sort("SQL_Latin1_General_CP437_BIN2", 30, P::Cp437, "Latin1_General", SqlRule::Codes),
    sort("SQL_Latin1_General_CP850_BIN", 40, P::Cp850, "Latin1_General", SqlRule::Codes),
    sort("SQL_Latin1_General_CP850_CS_AS", 41, P::Cp850, "Latin1_General", SqlRule::Words),
    sort("SQL_Latin1_General_CP850_CI_AS", 42, P::Cp850, "Latin1_General", SqlRule::Words),
    sort("SQL_Latin1_General_Pref_CP850_CI_AS", 43, P::Cp850, "Latin1_General", SqlRule::Words),
    sort("SQL_Latin1_General_CP850_CI_AI", 44, P::Cp850, "Latin1_General", SqlRule::Words),
    sort("SQL_Latin1_General_CP850_BIN2", 40, P::Cp850, "Latin1_General", SqlRule::Codes),
    sort("SQL_1xCompat_CP850_CI_AS", 49, P::Cp850, "Latin1_General", SqlRule::Unknown),
    sort("SQL_Latin1_General_CP1_CS_AS", 51, P::Cp1252, "Latin1_General", SqlRule::Own),
    sort("SQL_Latin1_General_CP1_CI_AS", 52, P::Cp1252, "Latin1_General", SqlRule::Own),
    sort("SQL_Latin1_General_Pref_CP1_CI_AS", 53, P::Cp1252, "Latin1_General", SqlRule::Own),
    sort("SQL_Latin1_General_CP1_CI_AI", 54, P::Cp1252, "Latin1_General", SqlRule::Own),
    sort("SQL_AltDiction_CP850_CS_AS", 55, P::Cp850, "Latin1_General", SqlRule::Unknown),
    sort("SQL_AltDiction_Pref_CP850_CI_AS", 56, P::Cp850, "Latin1_General", SqlRule::Unknown),
    sort("SQL_AltDiction_CP850_CI_AI", 57, P::Cp850, "Latin1_General", SqlRule::Unknown),
    sort("SQL_AltDiction_CP850_CI_AS", 61, P::Cp850, "Latin1_General", SqlRule::Unknown),
    sort("SQL_Scandinavian_Pref_CP850_CI_AS", 58, P::Cp850, "Finnish_Swedish", SqlRule::Words),
    sort("SQL_Scandinavian_CP850_CS_AS", 59, P::Cp850, "Finnish_Swedish", SqlRule::Words),
    sort("SQL_Scandinavian_CP850_CI_AS", 60, P::Cp850, "Finnish_Swedish", SqlRule::Words),
    sort("SQL_Latin1_General_CP1250_CS_AS", 81, P::Cp1250, "Latin1_General", SqlRule::Words),
    sort("SQL_Latin1_General_CP1250_CI_AS", 82, P::Cp1250, "Latin1_General", SqlRule::Words),
    sort("SQL_Czech_CP1250_CS_AS", 83, P::Cp1250, "Czech", SqlRule::Words),
    sort("SQL_Czech_CP1250_CI_AS", 84, P::Cp1250, "Czech", SqlRule::Words),
    sort("SQL_Hungarian_CP1250_CS_AS", 85, P::Cp1250, "Hungarian", SqlRule::Words),
    sort("SQL_Hungarian_CP1250_CI_AS", 86, P::Cp1250, "Hungarian", SqlRule::Words),
    sort("SQL_Polish_CP1250_CS_AS", 87, P::Cp1250, "Polish", SqlRule::Words),
    sort("SQL_Polish_CP1250_CI_AS", 88, P::Cp1250, "Polish", SqlRule::Words),
    sort("SQL_Romanian_CP1250_CS_AS", 89, P::Cp1250, "Romanian", SqlRule::Words),
    sort("SQL_Romanian_CP1250_CI_AS", 90, P::Cp1250, "Romanian", SqlRule::Words),
    sort("SQL_Croatian_CP1250_CS_AS", 91, P::Cp1250, "Croatian", SqlRule::Words),
    sort("SQL_Croatian_CP1250_CI_AS", 92, P::Cp1250, "Croatian", SqlRule::Words),
    sort("SQL_Slovak_CP1250_CS_AS", 93, P::Cp1250, "Slovak", SqlRule::Words),
    sort("SQL_Slovak_CP1250_CI_AS", 94, P::Cp1250, "Slovak", SqlRule::Words),
    sort("SQL_Slovenian_CP1250_CS_AS", 95, P::Cp1250, "Slovenian", SqlRule::Words),
    sort("SQL_Slovenian_CP1250_CI_AS", 96, P::Cp1250, "Slovenian", SqlRule::Words),
    sort("SQL_Latin1_General_CP1251_CS_AS", 105, P::Cp1251, "Latin1_General", SqlRule::Words),
    sort("SQL_Latin1_General_CP1251_CI_AS", 106, P::Cp1251, "Latin1_General", SqlRule::Words),
    sort("SQL_Ukrainian_CP1251_CS_AS", 107, P::Cp1251, "Ukrainian", SqlRule::Words),
    sort("SQL_Ukrainian_CP1251_CI_AS", 108, P::Cp1251, "Ukrainian", SqlRule::Words),
    sort("SQL_Latin1_General_CP1253_CS_AS", 113, P::Cp1253, "Latin1_General", SqlRule::Words),
    sort("SQL_Latin1_General_CP1253_CI_AS", 114, P::Cp1253, "Latin1_General", SqlRule::Words),
    sort("SQL_MixDiction_CP1253_CS_AS", 120, P::Cp1253, "Latin1_General", SqlRule::Unknown),
    sort("SQL_AltDiction2_CP1253_CS_AS", 122, P::Cp1253, "Latin1_General", SqlRule::Unknown),
    sort("SQL_Latin1_General_CP1253_CI_AI", 124, P::Cp1253, "Latin1_General", SqlRule::Words),
    sort("SQL_Latin1_General_CP1254_CS_AS", 129, P::Cp1254, "Turkish", SqlRule::Words),
    sort("SQL_Latin1_General_CP1254_CI_AS", 130, P::Cp1254, "Turkish", SqlRule::Words),
    sort("SQL_Latin1_General_CP1255_CS_AS", 137, P::Cp1255, "Latin1_General", SqlRule::Words),
    sort("SQL_Latin1_General_CP1255_CI_AS", 138, P::Cp1255, "Latin1_General", SqlRule::Words),
    sort("SQL_Latin1_General_CP1256_CS_AS", 145, P::Cp1256, "Latin1_General", SqlRule::Words),
    sort("SQL_Latin1_General_CP1256_CI_AS", 146, P::Cp1256, "Latin1_General", SqlRule::Words),
    sort("SQL_Latin1_General_CP1257_CS_AS", 153, P::Cp1257, "Latin1_General", SqlRule::Words),
    sort("SQL_Latin1_General_CP1257_CI_AS", 154, P::Cp1257, "Latin1_General", SqlRule::Words),
    sort("SQL_Estonian_CP1257_CS_AS", 155, P::Cp1257, "Estonian", SqlRule::Words),
    sort("SQL_Estonian_CP1257_CI_AS", 156, P::Cp1257, "Estonian", SqlRule::Words),
    sort("SQL_Latvian_CP1257_CS_AS", 157, P::Cp1257, "Latvian", SqlRule::Words),
    sort("SQL_Latvian_CP1257_CI_AS", 158, P::Cp1257, "Latvian", SqlRule::Words),
    sort("SQL_Lithuanian_CP1257_CS_AS", 159, P::Cp1257, "Lithuanian", SqlRule::Words),
    sort("SQL_Lithuanian_CP1257_CI_AS", 160, P::Cp1257, "Lithuanian", SqlRule::Words),
    sort("SQL_Danish_Pref_CP1_CI_AS", 183, P::Cp1252, "Danish_Norwegian", SqlRule::Words),
    sort("SQL_SwedishPhone_Pref_CP1_CI_AS", 184, P::Cp1252, "Finnish_Swedish", SqlRule::Words),
    sort("SQL_SwedishStd_Pref_CP1_CI_AS", 185, P::Cp1252, "Finnish_Swedish", SqlRule::Words),
    sort("SQL_Icelandic_Pref_CP1_CI_AS", 186, P::Cp1252, "Icelandic", SqlRule::Words),
    sort("SQL_EBCDIC037_CP1_CS_AS", 210, P::Cp1252, "Latin1_General", SqlRule::Unknown),
    sort("SQL_EBCDIC273_CP1_CS_AS", 211, P::Cp1252, "German_PhoneBook", SqlRule::Unknown),
    sort("SQL_EBCDIC277_CP1_CS_AS", 212, P::Cp1252, "Danish_Norwegian", SqlRule::Unknown),
    sort("SQL_EBCDIC278_CP1_CS_AS", 213, P::Cp1252, "Finnish_Swedish", SqlRule::Unknown),
    sort("SQL_EBCDIC280_CP1_CS_AS", 214, P::Cp1252, "Latin1_General", SqlRule::Unknown),
    sort("SQL_EBCDIC284_CP1_CS_AS", 215, P::Cp1252, "Modern_Spanish", SqlRule::Unknown),
    sort("SQL_EBCDIC285_CP1_CS_AS", 216, P::Cp1252, "Latin1_General", SqlRule::Unknown),
    sort("SQL_EBCDIC297_CP1_CS_AS", 217, P::Cp1252, "French", SqlRule::Unknown),
    sort("SQL_EBCDIC1141_CP1_CS_AS", 218, P::Cp1252, "German_PhoneBook", SqlRule::Unknown),
    sort("SQL_EBCDIC277_2_CP1_CS_AS", 219, P::Cp1252, "Danish_Norwegian", SqlRule::Unknown),
];
