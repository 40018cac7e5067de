//! Lock modes: what conflicts with what, and what two modes of one owner become together.
//!
//! A mode is a set of components. `SIX` is S and IX; `RangeS-U` is a shared guard over the gap
//! below a key and U on the key itself. Both tables are computed from the components by the
//! compiler; the tests compare them with the published matrices, letter by letter.
//!
//! Invariants
//!  1. Two modes conflict iff a component of one conflicts with a component of the other.
//!  2. Conflict is symmetric.
//!  3. Whatever conflicts with `a` or with `b` conflicts with `a.combine(b)`.

use os::wait::WaitKind;

const SCH_S: u16 = 1 << 0;
const SCH_M: u16 = 1 << 1;
const S: u16 = 1 << 2;
const U: u16 = 1 << 3;
const X: u16 = 1 << 4;
const IS: u16 = 1 << 5;
const IU: u16 = 1 << 6;
const IX: u16 = 1 << 7;
const BU: u16 = 1 << 8;
const GAP_S: u16 = 1 << 9;
const GAP_I: u16 = 1 << 10;
const GAP_X: u16 = 1 << 11;
const COMPONENTS: u32 = 12;
const ALL: u16 = (1 << COMPONENTS) - 1;

/// What one component conflicts with (invariant 1).
const fn against(component: u16) -> u16 {
    assert!(component.count_ones() == 1, "one component");
    match component {
        SCH_S => SCH_M,
        SCH_M => ALL,
        S => SCH_M | BU | IX | X,
        U => SCH_M | BU | U | IU | IX | X,
        X => SCH_M | BU | S | U | X | IS | IU | IX,
        IS => SCH_M | BU | X,
        IU => SCH_M | BU | U | X,
        IX => SCH_M | BU | S | U | X,
        // Never met on a key, so nothing is said about gaps.
        BU => ALL & !(BU | SCH_S | GAP_S | GAP_I | GAP_X),
        GAP_S => SCH_M | GAP_I | GAP_X,
        GAP_I => SCH_M | GAP_S | GAP_X,
        GAP_X => SCH_M | GAP_S | GAP_I | GAP_X,
        _ => 0,
    }
}

macro_rules! modes {
    ($($mode:ident = $name:literal, $parts:expr, $wait:ident;)*) => {
        /// How a resource is locked. The order is that of the documentation's table.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u8)]
        pub enum Mode {
            $(#[doc = $name] $mode,)*
        }

        impl Mode {
            /// Every mode, in the order of the discriminants.
            pub const ALL: &[Mode] = &[$(Mode::$mode),*];

            /// The name that sys.dm_tran_locks shows: `RangeS-S`, `Sch-M`.
            pub const fn name(self) -> &'static str {
                match self { $(Mode::$mode => $name),* }
            }

            /// Under which name a wait for this mode is counted.
            pub const fn wait_kind(self) -> WaitKind {
                match self { $(Mode::$mode => WaitKind::$wait),* }
            }
        }

        const PARTS: [u16; MODES] = [$($parts),*];
    };
}

/// How many modes there are.
const MODES: usize = 22;

modes! {
    NL = "NL", 0, LckS;
    SchS = "Sch-S", SCH_S, LckSchS;
    SchM = "Sch-M", SCH_M, LckSchM;
    S = "S", S, LckS;
    U = "U", U, LckU;
    X = "X", X, LckX;
    IS = "IS", IS, LckIs;
    IU = "IU", IU, LckIu;
    IX = "IX", IX, LckIx;
    SIU = "SIU", S | IU, LckSiu;
    SIX = "SIX", S | IX, LckSix;
    UIX = "UIX", U | IX, LckUix;
    BU = "BU", BU, LckBu;
    RangeSS = "RangeS-S", GAP_S | S, LckRsS;
    RangeSU = "RangeS-U", GAP_S | U, LckRsU;
    RangeIN = "RangeI-N", GAP_I, LckRinNl;
    RangeIS = "RangeI-S", GAP_I | S, LckRinS;
    RangeIU = "RangeI-U", GAP_I | U, LckRinU;
    RangeIX = "RangeI-X", GAP_I | X, LckRinX;
    RangeXS = "RangeX-S", GAP_X | S, LckRxS;
    RangeXU = "RangeX-U", GAP_X | U, LckRxU;
    RangeXX = "RangeX-X", GAP_X | X, LckRxX;
}

/// A set of modes, one bit each.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct ModeSet(u32);

impl ModeSet {
    pub(crate) const EMPTY: ModeSet = ModeSet(0);

    pub(crate) const fn with(self, mode: Mode) -> ModeSet {
        ModeSet(self.0 | 1 << mode as u8)
    }

    pub(crate) const fn meets(self, other: ModeSet) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) const fn or(self, other: ModeSet) -> ModeSet {
        ModeSet(self.0 | other.0)
    }
}

const fn conflict_table() -> [ModeSet; MODES] {
    let mut table = [ModeSet::EMPTY; MODES];
    let mut a = 0;
    while a < MODES {
        let mut opposed = 0;
        let mut c = 0;
        while c < COMPONENTS {
            if PARTS[a] & (1 << c) != 0 {
                opposed |= against(1 << c);
            }
            c += 1;
        }
        let mut b = 0;
        while b < MODES {
            if opposed & PARTS[b] != 0 {
                table[a].0 |= 1 << b;
            }
            assert!(b >= a || (table[a].0 >> b & 1) == (table[b].0 >> a & 1), "invariant 2");
            b += 1;
        }
        assert!(PARTS[a] & !ALL == 0, "components only");
        assert!(table[a].0 >> MODES == 0, "it conflicts with modes that there are");
        a += 1;
    }
    table
}

const CONFLICTS: [ModeSet; MODES] = conflict_table();

/// The part of a mode that guards the gap: `S` and `I` together guard as `X` does.
const fn gap(parts: u16) -> u16 {
    assert!(parts & !ALL == 0, "components only");
    let gap = parts & (GAP_S | GAP_I | GAP_X);
    if gap.count_ones() > 1 { GAP_X } else { gap }
}

/// The weakest mode without a gap that has all of these components.
const fn on_resource(parts: u16) -> Mode {
    assert!(parts & !ALL == 0, "components only");
    let p = parts & !(GAP_S | GAP_I | GAP_X);
    let stronger_than_schema = p & !SCH_S;
    if p & SCH_M != 0 {
        Mode::SchM
    } else if p & X != 0 || (p & BU != 0 && stronger_than_schema != BU) {
        Mode::X
    } else if p & BU != 0 {
        Mode::BU
    } else if p & IX != 0 {
        if p & U != 0 {
            Mode::UIX
        } else if p & S != 0 {
            Mode::SIX
        } else {
            Mode::IX
        }
    } else if p & U != 0 {
        Mode::U
    } else if p & IU != 0 {
        if p & S != 0 { Mode::SIU } else { Mode::IU }
    } else if p & S != 0 {
        Mode::S
    } else if p & IS != 0 {
        Mode::IS
    } else if p & SCH_S != 0 {
        Mode::SchS
    } else {
        Mode::NL
    }
}

/// The weakest mode that has all of these components.
const fn weakest(parts: u16) -> Mode {
    let on = on_resource(parts);
    let gap = gap(parts);
    assert!(PARTS[on as usize] & (GAP_S | GAP_I | GAP_X) == 0, "no part of it guards a gap");
    if gap == 0 {
        return on;
    }
    match on {
        Mode::SchM => Mode::SchM,
        Mode::NL | Mode::SchS => match gap {
            GAP_S => Mode::RangeSS,
            GAP_I => Mode::RangeIN,
            _ => Mode::RangeXS,
        },
        Mode::S | Mode::IS => match gap {
            GAP_S => Mode::RangeSS,
            GAP_I => Mode::RangeIS,
            _ => Mode::RangeXS,
        },
        Mode::U | Mode::IU | Mode::SIU => match gap {
            GAP_S => Mode::RangeSU,
            GAP_I => Mode::RangeIU,
            _ => Mode::RangeXU,
        },
        // There is no RangeS-X.
        _ => match gap {
            GAP_I => Mode::RangeIX,
            _ => Mode::RangeXX,
        },
    }
}

const fn combine_table() -> [[Mode; MODES]; MODES] {
    let mut table = [[Mode::NL; MODES]; MODES];
    let mut a = 0;
    while a < MODES {
        let mut b = 0;
        while b < MODES {
            let both = weakest(PARTS[a] | PARTS[b]);
            let wide = CONFLICTS[both as usize].0;
            assert!(wide | CONFLICTS[a].0 | CONFLICTS[b].0 == wide, "invariant 3");
            let gap = PARTS[both as usize] & (GAP_S | GAP_I | GAP_X) != 0;
            let had = (PARTS[a] | PARTS[b]) & (GAP_S | GAP_I | GAP_X) != 0;
            assert!(gap == had || matches!(both, Mode::SchM), "a guarded gap stays guarded");
            assert!(a != b || both as usize == a, "a mode with itself is itself");
            table[a][b] = both;
            b += 1;
        }
        a += 1;
    }
    table
}

static COMBINED: [[Mode; MODES]; MODES] = combine_table();

impl Mode {
    /// Whether owners cannot hold these two at once.
    #[inline]
    pub fn conflicts(self, other: Mode) -> bool {
        self.conflict_set().meets(ModeSet::EMPTY.with(other))
    }

    /// What an owner that holds this and asks for the other holds then.
    #[inline]
    pub fn combine(self, other: Mode) -> Mode {
        COMBINED[self as usize][other as usize]
    }

    /// Whether an owner that holds this need not ask for the other.
    #[inline]
    pub fn covers(self, other: Mode) -> bool {
        self.combine(other) == self
    }

    /// Every mode that conflicts with this one.
    #[inline]
    pub(crate) fn conflict_set(self) -> ModeSet {
        static TABLE: [ModeSet; MODES] = CONFLICTS;
        TABLE[self as usize]
    }
}

const _: () = assert!(Mode::ALL.len() == MODES && MODES <= 32);

#[cfg(test)]
mod tests;
