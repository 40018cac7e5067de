//! What a plan holds in memory: every allocation that hangs on it, counted.
//!
//! The plan cache is charged with it (`plancache::Cache::charge`). An allocation counts with what
//! an allocator of size classes gives for it; names and values that a plan shares with others count
//! as its own. `cargo xtask prove query.8` compares the sum with what a server grows by.
//!
//! One line a type lists the fields that allocate. That of an operator stands with the operator.

mod statement;

use crate::{
    AggregateCall, LikeText, Predicate, Scalar, ScalarKind, ScalarType, Slot, SortKey, SubqueryId,
    Top, UserCall, VariableId, WindowCall, WindowFunction,
};
use types::{Collation, SqlType, Value};

/// What stands behind a value, beyond its own bytes.
pub trait HeldBytes {
    /// Bytes on the heap.
    fn held(&self) -> usize;
}

/// What an allocation of so many bytes takes: a multiple of 16, and an eighth more of a large one
/// that lies between two classes.
const fn allocated(bytes: usize) -> usize {
    match bytes {
        0 => 0,
        1..=128 => bytes.next_multiple_of(16),
        _ => (bytes + bytes / 16).next_multiple_of(16),
    }
}

/// Types that hold nothing.
macro_rules! nothing {
    ($($ty:ty),+ $(,)?) => {
        $(impl HeldBytes for $ty {
            fn held(&self) -> usize {
                0
            }
        })+
    };
}

/// Structs, and their fields that hold something.
macro_rules! fields {
    ($($ty:ty: $($field:ident),+;)+) => {
        $(impl HeldBytes for $ty {
            fn held(&self) -> usize {
                0 $(+ self.$field.held())+
            }
        })+
    };
}

/// Operators, and their fields that hold something.
macro_rules! operator_fields {
    ($($ty:ident: $($field:ident),+;)+) => {
        $(impl<I: HeldBytes> HeldBytes for $ty<I> {
            fn held(&self) -> usize {
                0 $(+ self.$field.held())+
            }
        })+
    };
}

pub(crate) use {fields, nothing, operator_fields};

nothing!(bool, u8, u64, usize, Slot, SubqueryId, VariableId, ScalarType, SortKey);
nothing!(SqlType, Collation, (Slot, Slot, Collation));

impl<T: HeldBytes> HeldBytes for Vec<T> {
    fn held(&self) -> usize {
        allocated(self.capacity() * size_of::<T>()) + self.iter().map(T::held).sum::<usize>()
    }
}

impl<T: HeldBytes> HeldBytes for Box<[T]> {
    fn held(&self) -> usize {
        allocated(size_of_val(&**self)) + self.iter().map(T::held).sum::<usize>()
    }
}

impl HeldBytes for Box<str> {
    fn held(&self) -> usize {
        allocated(self.len())
    }
}

impl<T: HeldBytes> HeldBytes for Box<T> {
    fn held(&self) -> usize {
        allocated(size_of::<T>()) + (**self).held()
    }
}

impl<T: HeldBytes> HeldBytes for Option<T> {
    fn held(&self) -> usize {
        self.as_ref().map_or(0, T::held)
    }
}

impl<A: HeldBytes, B: HeldBytes> HeldBytes for (A, B) {
    fn held(&self) -> usize {
        self.0.held() + self.1.held()
    }
}

fields! {
    Scalar: kind;
    UserCall: name, args;
    Top: count, ties, offset;
    AggregateCall: argument, separator;
    WindowCall: function;
}

impl HeldBytes for Value {
    fn held(&self) -> usize {
        match self {
            Value::Char(b) | Value::NChar(b) | Value::Binary(b) => allocated(b.heap_bytes()),
            _ => 0,
        }
    }
}

impl HeldBytes for ScalarKind {
    fn held(&self) -> usize {
        use ScalarKind as K;
        match self {
            K::Constant(value) => value.held(),
            K::Column(_) | K::Variable(_) | K::Global(_) | K::Subquery(_) => 0,
            K::Negate(x) | K::BitNot(x) => x.held(),
            K::Binary { left, right, .. } => left.held() + right.held(),
            K::Case { branches, otherwise } => branches.held() + otherwise.held(),
            K::Coalesce(list) => list.held(),
            K::Cast { operand, style, .. } => operand.held() + style.held(),
            K::Function { args, arg_types, .. } => args.held() + arg_types.held(),
            K::Method { method, args } => method.query.text().len() + args.held(),
            K::Call(call) => call.held(),
            K::Let { value, body, .. } => value.held() + body.held(),
        }
    }
}

impl HeldBytes for Predicate {
    fn held(&self) -> usize {
        use Predicate as P;
        match self {
            P::Constant(_) | P::Exists(_) => 0,
            P::Compare { left, right, .. } | P::IsDistinct { left, right, .. } => {
                left.held() + right.held()
            }
            P::IsNull(x) => x.held(),
            P::Like { operand, pattern, .. } => operand.held() + pattern.held(),
            P::InList { operand, list, .. } => operand.held() + list.held(),
            P::Quantified { operand, .. } => operand.held(),
            P::Not(p) => p.held(),
            P::And(parts) | P::Or(parts) => parts.held(),
            P::Let { value, body, .. } => value.held() + body.held(),
        }
    }
}

impl HeldBytes for LikeText {
    fn held(&self) -> usize {
        match self {
            LikeText::Compiled(pattern) => {
                allocated(size_of_val(&**pattern) + 2 * size_of::<usize>()) + pattern.heap_bytes()
            }
            LikeText::Dynamic { pattern, escape } => pattern.held() + escape.held(),
        }
    }
}

impl HeldBytes for WindowFunction {
    fn held(&self) -> usize {
        self.arguments().map(Scalar::held).sum()
    }
}
