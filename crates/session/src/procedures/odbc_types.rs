//! How ODBC describes a type: code, digits, bytes, radix and scale, for columns and for parameters.

/// The part of FROM behind rows `c` of `sys.columns` or `sys.parameters`: `m` has the properties of
/// a type, `d` those that depend on its length and scale. `@ODBCVer` selects the codes of dates.
macro_rules! odbc_types {
    () => {
        "  -- id, ODBC code, digits or characters, bytes, radix, scale: NULL where the column says it.
  CROSS APPLY (SELECT m.code, m.digits, m.bytes, m.radix, m.scale, m.fixed, m.nullable FROM
      (VALUES
    (34, -4, 2147483647, 2147483647, NULL, NULL, 34, 34),
    (35, -1, 2147483647, 2147483647, NULL, NULL, 35, 35),
    (99, -10, 1073741823, 2147483646, NULL, NULL, 35, 35),
    (36, -11, 36, 16, NULL, NULL, 37, 37), (40, 91, 10, 6, NULL, 0, 0, 0),
    (41, -154, NULL, 12, NULL, NULL, 0, 0), (42, 93, NULL, 16, NULL, NULL, 0, 0),
    (43, -155, NULL, 20, NULL, NULL, 0, 0), (48, -6, 3, 1, 10, 0, 48, 38),
    (52, 5, 5, 2, 10, 0, 52, 38), (56, 4, 10, 4, 10, 0, 56, 38),
    (58, 93, 16, 16, NULL, 0, 58, 111), (59, 7, 24, 4, 2, NULL, 59, 109),
    (60, 3, 19, 21, 10, 4, 60, 110), (61, 93, 23, 16, NULL, 3, 61, 111),
    (62, 6, 53, 8, 2, NULL, 62, 109), (98, -150, 8000, 8000, NULL, NULL, 39, 39),
    (104, -7, 1, 1, NULL, NULL, 50, 50), (106, 3, NULL, NULL, 10, NULL, 55, 106),
    (108, 2, NULL, NULL, 10, NULL, 63, 108), (122, 3, 10, 12, 10, 4, 122, 110),
    (127, -5, 19, 8, 10, 0, 63, 108), (165, -3, NULL, NULL, NULL, NULL, 37, 37),
    (167, 12, NULL, NULL, NULL, NULL, 39, 39), (173, -2, NULL, NULL, NULL, NULL, 45, 37),
    (175, 1, NULL, NULL, NULL, NULL, 47, 39), (189, -2, 8, 8, NULL, NULL, 45, 45),
    (231, -9, NULL, NULL, NULL, NULL, 39, 39), (239, -8, NULL, NULL, NULL, NULL, 39, 39),
    (241, -152, 0, 0, NULL, NULL, 0, 0), (243, -153, 0, 0, NULL, NULL, 0, 0))
    m (id, code, digits, bytes, radix, scale, fixed, nullable) WHERE m.id = c.system_type_id) m
  CROSS APPLY (SELECT
    CASE WHEN m.digits IS NOT NULL THEN m.digits
      WHEN c.system_type_id IN (106, 108) THEN c.[precision]
      WHEN c.system_type_id = 41 THEN 8 + CASE c.scale WHEN 0 THEN 0 ELSE 1 + c.scale END
      WHEN c.system_type_id = 42 THEN 19 + CASE c.scale WHEN 0 THEN 0 ELSE 1 + c.scale END
      WHEN c.system_type_id = 43 THEN 26 + CASE c.scale WHEN 0 THEN 0 ELSE 1 + c.scale END
      WHEN c.max_length = -1 AND c.system_type_id = 231 THEN 1073741823
      WHEN c.max_length = -1 THEN 2147483647
      WHEN c.system_type_id IN (231, 239) THEN c.max_length / 2
      ELSE c.max_length END AS digits,
    CASE WHEN m.bytes IS NOT NULL THEN m.bytes
      WHEN c.system_type_id IN (106, 108) THEN c.[precision] + 2
      WHEN c.max_length = -1 THEN 2147483647 ELSE c.max_length END AS bytes,
    CASE WHEN m.scale IS NOT NULL THEN m.scale
      WHEN c.system_type_id IN (41, 42, 43, 106, 108) THEN c.scale END AS scale,
    CASE WHEN m.code IN (91, 93) AND @ODBCVer < 3
      THEN CASE m.code WHEN 91 THEN 9 ELSE 11 END ELSE m.code END AS code,
    CASE WHEN m.code IN (91, 93) THEN 9 ELSE m.code END AS verbose,
    CASE m.code WHEN 91 THEN 1 WHEN 93 THEN 3 END AS sub,
    CASE WHEN c.system_type_id IN (34, 35, 99) THEN m.bytes
      WHEN c.system_type_id IN (165, 167, 173, 175, 231, 239)
      THEN CASE c.max_length WHEN -1 THEN 2147483647 ELSE c.max_length END END AS octets) d
"
    };
}

pub(super) use odbc_types;
