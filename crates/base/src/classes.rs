//! What an error ends: the classes of errors, one table beside the messages.
//!
//! ```text
//! class        ends                               a CATCH block        the transaction
//! Statement    the statement                      gets it              goes on
//! Scope        the module or batch                of a caller gets it  goes on
//! Batch        the batch                          gets it              goes on
//! Transaction  the batch, and the transaction     gets it              rolled back, in TRY doomed
//! Connection   the connection                     does not get it      rolled back
//! ```
//! SET XACT_ABORT ON makes Transaction of each, but of those that spare where no TRY is around: a
//! text that is not parsed never ran, RAISERROR and errors of severity 11 only tell.
//!
//! Invariants
//!  1. Each number of the message table that is an error is of one class: it stands here once, or
//!     its severity says it. Severity 10 and below is none, 15 is a text's, 20 and above the
//!     connection's. (test `every_error_has_one_class`)
//!  2. The class is the number's, whatever raises it. Known besides are whether it was found as a
//!     statement was bound (then Scope), whether a definition met it in rows, whether a call
//!     raised it for an argument (`session/src/answer/failure.rs`), and the state of 8115.
//!  3. An error that others explain is of the class of the first that explains it: 1750 after 1505
//!     ends what 1505 ends.

/// What an error ends by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ends {
    /// Information: it ends nothing.
    Nothing,
    /// The next statement runs.
    Statement,
    /// The module or batch in which it was raised; the caller of a module goes on.
    Scope,
    /// The whole batch.
    Batch,
    /// The whole batch and its transaction; in TRY the transaction is doomed.
    Transaction,
    /// The connection.
    Connection,
}

/// What is known of an error's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorClass {
    /// What it ends.
    pub ends: Ends,
    /// What it ends when CREATE, ALTER or TRUNCATE meets it in rows that are there.
    pub ends_definition: Ends,
    /// XACT_ABORT makes no difference where no TRY is around.
    pub spares: bool,
    /// A CATCH block gets it with a doomed transaction, though uncaught it spares it.
    pub dooms_caught: bool,
}

impl ErrorClass {
    const fn of(ends: Ends) -> ErrorClass {
        ErrorClass { ends, ends_definition: ends, spares: false, dooms_caught: false }
    }

    /// Of 8115 where an identity value is too large for its column.
    pub(crate) fn of_identity() -> ErrorClass {
        TRANSACTION
    }

    /// The class of an error by its number and severity.
    pub fn of_error(number: i32, severity: u8) -> ErrorClass {
        match severity {
            0..=10 => return ErrorClass::of(Ends::Nothing),
            20.. => return ErrorClass::of(Ends::Connection),
            _ => {}
        }
        let listed = CLASSES.iter().find(|(_, numbers)| numbers.binary_search(&number).is_ok());
        match listed {
            Some((class, _)) => *class,
            None if severity == 15 => TEXT,
            None => STATEMENT,
        }
    }
}

const TEXT: ErrorClass = ErrorClass { spares: true, ..ErrorClass::of(Ends::Scope) };
const SCOPE: ErrorClass = ErrorClass::of(Ends::Scope);
const STATEMENT: ErrorClass = ErrorClass::of(Ends::Statement);
const ROWS: ErrorClass = ErrorClass { ends_definition: Ends::Transaction, ..STATEMENT };
const SPARED: ErrorClass = ErrorClass { spares: true, ..STATEMENT };
const MISCOUNT: ErrorClass = ErrorClass { dooms_caught: true, ..SPARED };
const BATCH: ErrorClass = ErrorClass::of(Ends::Batch);
const TRANSACTION: ErrorClass = ErrorClass::of(Ends::Transaction);

/// Numbers are sorted within a class. "Recorded" is of outputs of SQL Server that were published,
/// "documented" of its documentation and of what is written about it; the others are of the kind
/// of one that is.
#[rustfmt::skip]
const CLASSES: &[(ErrorClass, &[i32])] = &[
    // What parsing a text finds, beside all of severity 15. Recorded of 1034, 1049, 1051, 132-136,
    // 141, 142 and 180.
    (
        TEXT,
        &[
            1013, 10733,
        ],
    ),
    // What binding a statement finds, as it is compiled or first run. Recorded of 207, 208, 306,
    // 1752, 2705, 2747, 4104, 4902, 8120, 8159 and 16948, documented of 2715.
    (
        SCOPE,
        &[
            104, 108, 116, 205, 207, 208, 209, 215, 216, 239, 240, 243, 246, 247, 252, 253, 257,
            259, 263, 264, 271, 272, 273, 277, 305, 306, 308, 313, 331, 332, 333, 334, 339, 350,
            362, 365, 402, 404, 408, 414, 415, 421, 443, 444, 445, 446, 447, 448, 451, 455, 456,
            457, 459, 460, 461, 462, 465, 467, 468, 470, 493, 494, 497, 498, 500, 529, 916, 922,
            924, 926, 942, 945, 1008, 1011, 1036, 1069, 1752, 2203, 2204, 2205, 2207, 2209, 2210,
            2225, 2226, 2227, 2229, 2232, 2234, 2236, 2238, 2240, 2249, 2258, 2261, 2264, 2282,
            2285, 2337, 2342, 2356, 2364, 2365, 2371, 2373, 2374, 2389, 2392, 2395, 2396, 2705,
            2715, 2716, 2717, 2733, 2738, 2739, 2744, 2747, 2749, 2750, 2751, 2752, 2753, 2761,
            2772, 4104, 4114, 4121, 4127, 4151, 4186, 4191, 4193, 4194, 4403, 4405, 4406, 4413,
            4417, 4418, 4420, 4421, 4426, 4429, 4902, 5316, 5322, 5324, 5335, 5373, 6305, 6306,
            6307, 6314, 6800, 6801, 6802, 6809, 6819, 6825, 6829, 6846, 6849, 6850, 6851, 6852,
            6853, 6854, 6861, 6864, 6867, 6879, 8101, 8102, 8108, 8109, 8110, 8111, 8112, 8113,
            8116, 8117, 8120, 8121, 8124, 8126, 8127, 8133, 8137, 8139, 8140, 8141, 8147, 8148,
            8154, 8155, 8156, 8158, 8159, 8161, 8167, 8168, 8172, 8183, 8196, 8622, 8623, 8655,
            8748, 9301, 9303, 9310, 9313, 9315, 9319, 9322, 9325, 9326, 9332, 9335, 9341, 9342,
            9344, 9500, 9501, 10700, 10709, 11534, 11717, 11726, 11731, 11734, 11735, 13600, 13601,
            13602, 13605, 13618, 13619, 13620, 16938, 16948, 16949,
        ],
    ),
    // Recorded of 201, 206, 545, 550, 3902, 3903, 6401, 8143-8146, 8179 and 16950.
    (
        STATEMENT,
        &[
            127, 148, 201, 206, 214, 226, 233, 234, 281, 286, 302, 506, 507, 530, 544, 545, 550,
            557, 574, 582, 583, 601, 666, 701, 1014, 1031, 1105, 1202, 1204, 1222, 1223, 1224, 1225,
            1226, 1227, 1230, 1801, 1802, 1803, 1828, 1842, 2501, 2511, 2514, 2515, 2520, 2521,
            2533, 2534, 2560, 2577, 2579, 2583, 2732, 2740, 2741, 2742, 2754, 2755, 2767, 2812,
            3140, 3702, 3708, 3902, 3903, 3906, 3908, 3914, 3918, 4002, 4019, 4060, 4116, 4199,
            4804, 4805, 4815, 4816, 4817, 4818, 4819, 4891, 5004, 5011, 5038, 5039, 5040, 5041,
            5058, 5061, 5062, 5064, 5069, 5070, 5077, 5082, 5083, 5103, 5120, 5123, 5149, 5150,
            5169, 5170, 5172, 5173, 5174, 5302, 6101, 6104, 6106, 6308, 6320, 6325, 6335, 6354,
            6355, 6401, 6803, 6804, 6806, 6810, 6833, 7119, 7955, 7992, 7999, 8003, 8004, 8005,
            8006, 8007, 8009, 8016, 8017, 8023, 8143, 8144, 8145, 8146, 8162, 8164, 8178, 8179,
            8197, 8631, 8645, 8672, 8727, 8730, 8903, 8904, 8905, 8906, 8909, 8920, 8927, 8928,
            8929, 8931, 8933, 8934, 8935, 8936, 8937, 8938, 8939, 8941, 8942, 8943, 8944, 8946,
            8947, 8948, 8951, 8952, 8955, 8956, 8961, 8964, 8968, 8970, 8980, 8981, 8985, 8986,
            8993, 8994, 9002, 9005, 9809, 9810, 9812, 9818, 9819, 9820, 9826, 9828, 9829, 9834,
            9838, 9839, 10742, 10744, 11501, 11502, 11503, 11506, 11507, 11508, 11525, 11728, 12122,
            12133, 12134, 13606, 13611, 13625, 15151, 15347, 15348, 15530, 16902, 16905, 16909,
            16911, 16915, 16916, 16917, 16924, 16929, 16930, 16931, 16932, 16933, 16934, 16947,
            16950, 16951, 16957, 18452, 18456, 35100, 40510, 40517, 50010, 50011,
        ],
    ),
    // Recorded of 220, 232, 242, 248, 512, 515, 517, 547, 8115 and 8152 in changes; of 547 by
    // ALTER TABLE.
    (
        ROWS,
        &[
            220, 232, 242, 244, 248, 511, 512, 515, 517, 535, 536, 537, 547, 1934, 2601, 2627,
            2628, 8115, 8134, 8152,
        ],
    ),
    // What a system procedure raises as RAISERROR does, and what DROP does not find. Recorded of
    // 2787 and 3701.
    (
        SPARED,
        &[
            2706, 2786, 2787, 3701, 3739, 15002, 15006, 15009, 15010, 15033, 15048, 15097, 15123,
            15124, 15125, 15126, 15129, 15130, 15133, 15135, 15165, 15197, 15217, 15225, 15233,
            15248, 15249, 15283, 15305, 15335, 15336, 15600, 15645, 15646, 15664, 17049, 18054,
            22004,
        ],
    ),
    // A count of transactions that a call has changed.
    (
        MISCOUNT,
        &[
            266,
        ],
    ),
    // What WITH RESULT SETS does not allow.
    (
        BATCH,
        &[
            11535, 11536, 11537, 11538, 11553,
        ],
    ),
    // Conversions of text, XML and JSON that is none, deadlocks, what snapshots and triggers do not
    // allow, names that are taken, and definitions that change a table or index. Recorded of 217,
    // 219, 235, 241, 245, 289, 293, 295, 911, 1505, 1765, 1768, 1946, 2714, 3609, 3728, 3729, 3930,
    // 3931, 4712, 4901, 4920, 8106, 8107, 8169, 8170, 9400-9465, 11700-11708 and 13607-13624.
    (
        TRANSACTION,
        &[
            213, 217, 218, 219, 235, 241, 245, 289, 293, 295, 556, 628, 911, 1088, 1205, 1505, 1701,
            1702, 1750, 1753, 1754, 1755, 1757, 1759, 1761, 1762, 1763, 1764, 1765, 1766, 1767,
            1768, 1769, 1770, 1773, 1774, 1776, 1778, 1779, 1781, 1785, 1787, 1902, 1904, 1907,
            1909, 1911, 1913, 1915, 1916, 1919, 1921, 1925, 1927, 1944, 1946, 1973, 1974, 1979,
            1987, 1988, 1989, 1999, 2010, 2111, 2112, 2113, 2714, 2720, 2725, 2729, 2759, 2760,
            2799, 3609, 3616, 3623, 3705, 3723, 3725, 3726, 3727, 3728, 3729, 3732, 3733, 3745,
            3915, 3916, 3930, 3931, 3951, 3952, 3954, 3956, 3957, 3958, 3960, 3961, 3964, 3966,
            3967, 3998, 4502, 4506, 4508, 4511, 4512, 4513, 4701, 4708, 4712, 4901, 4916, 4917,
            4919, 4920, 4922, 4923, 4924, 4925, 4926, 4927, 4928, 4936, 5074, 5313, 6359, 8106,
            8107, 8114, 8169, 8170, 9400, 9401, 9402, 9410, 9411, 9412, 9413, 9414, 9415, 9416,
            9417, 9420, 9421, 9422, 9424, 9429, 9436, 9437, 9438, 9439, 9441, 9448, 9454, 9455,
            9456, 9457, 9459, 9460, 10601, 10609, 10610, 10611, 10791, 11415, 11700, 11701, 11702,
            11703, 11704, 11705, 11706, 11708, 13607, 13608, 13609, 13621, 13623, 13624,
        ],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages;

    /// Invariant 1.
    #[test]
    fn every_error_has_one_class() {
        for message in messages::ALL {
            let listed = CLASSES.iter().filter(|(_, numbers)| numbers.contains(&message.number));
            let by_severity = matches!(message.severity, 0..=10 | 15 | 20..);
            // One of severity 15 may be listed because it is of another class.
            let wanted = match (message.severity, by_severity) {
                (15, _) => 0..=1,
                (_, true) => 0..=0,
                (_, false) => 1..=1,
            };
            let times = listed.count();
            assert!(wanted.contains(&times), "{} stands in {times} classes", message.number);
        }
    }

    #[test]
    fn numbers_are_sorted_and_are_messages() {
        for (class, numbers) in CLASSES {
            assert!(numbers.is_sorted_by(|a, b| a < b), "{class:?}");
            for number in *numbers {
                let known = messages::ALL.iter().any(|m| m.number == *number);
                assert!(known, "{number} is no message");
            }
        }
    }

    #[test]
    fn severity_decides_where_the_table_says_nothing() {
        let class = |number, severity| ErrorClass::of_error(number, severity);
        assert_eq!(class(50_000, 16).ends, Ends::Statement);
        assert_eq!(class(50_000, 10).ends, Ends::Nothing);
        assert_eq!(class(50_000, 20).ends, Ends::Connection);
        assert_eq!(class(102, 15), TEXT);
        assert_eq!(class(547, 16).ends_definition, Ends::Transaction);
        assert_eq!(class(1205, 13).ends, Ends::Transaction);
    }
}
