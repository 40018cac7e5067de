//! `InList`: the list of IN. Constants are found by their hash, so a list of thousands costs no
//! more than one of ten. After them, computed values are compared one by one.

use super::Expr;
use super::compare::compared;
use crate::memory::hash_value;
use crate::run::Run;
use base::SqlResult;
use hashbrown::HashTable;
use plan::{CompareOp, Scalar};
use types::{Collation, Value, compare};

/// Up to this many constants are compared one by one.
const FEW: usize = 8;

/// See the module. All members have the operand's type.
pub(crate) struct InList {
    /// Constants that are not NULL; found by `places` unless they are few.
    constants: Vec<Value>,
    places: HashTable<u32>,
    /// NULL is a member: what equals no other is unknown.
    has_null: bool,
    computed: Box<[Expr]>,
    collation: Collation,
}

impl InList {
    /// Compiles a list.
    ///
    /// # Errors
    /// 191.
    pub(crate) fn new(list: &[Scalar], collation: Collation, depth: usize) -> SqlResult<InList> {
        let (mut constants, mut computed, mut has_null) = (Vec::new(), Vec::new(), false);
        for x in list {
            match x.as_constant() {
                Some(value) if value.is_null() => has_null = true,
                Some(value) => constants.push(value.clone()),
                None => computed.push(Expr::at_depth(x, depth)?),
            }
        }
        let mut places = HashTable::new();
        if constants.len() > FEW {
            places.reserve(constants.len(), |_: &u32| 0);
            for (at, value) in constants.iter().enumerate() {
                let again = |&i: &u32| hash_value(&constants[i as usize], collation);
                let hash = hash_value(value, collation);
                let same = |&i: &u32| compare(&constants[i as usize], value, collation).is_eq();
                if places.find(hash, same).is_none() {
                    places.insert_unique(hash, at as u32, again);
                }
            }
        }
        Ok(InList { constants, places, has_null, computed: computed.into(), collation })
    }

    /// Whether a value is a member; `None` where IN is unknown.
    pub(crate) fn has(&self, value: &Value, run: &mut Run<'_>) -> SqlResult<Option<bool>> {
        if value.is_null() {
            return Ok(None);
        }
        if self.has_constant(value) {
            return Ok(Some(true));
        }
        let mut truth = if self.has_null { None } else { Some(false) };
        for x in &self.computed {
            let equal = |x: &Value| compared(CompareOp::Equal, value, x, self.collation);
            match x.with(run, equal)? {
                Some(true) => return Ok(Some(true)),
                Some(false) => {}
                None => truth = None,
            }
        }
        Ok(truth)
    }

    fn has_constant(&self, value: &Value) -> bool {
        let same = |constant: &Value| compare(constant, value, self.collation).is_eq();
        match self.places.is_empty() {
            true => self.constants.iter().any(same),
            false => {
                let hash = hash_value(value, self.collation);
                self.places.find(hash, |&i| same(&self.constants[i as usize])).is_some()
            }
        }
    }
}
