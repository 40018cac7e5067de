//! Conversions that a statement asks for or needs, and types as written.

use crate::binder::Binder;
use crate::expressions::collation::check_converted;
use crate::expressions::deduction::{Inference, takes_any_type, untyped};
use crate::refusal::unsupported;
use base::{SqlError, SqlResult, messages};
use plan::{ImplicitFlag, Scalar, ScalarKind};
use tsql::ast;
use types::{Family, SqlType, TypeSize, check_explicit, check_implicit, declare};

/// The type that a type name means. `length_default` is 1 in declarations, 30 in CAST.
///
/// # Errors
/// 243 or 2715 for an unknown name, others for a size out of range; 40517 for a type that is not
/// supported yet.
pub fn declared_type(name: &ast::TypeName, length_default: u16) -> SqlResult<SqlType> {
    let bare: &str = &name.name.object;
    let line = name.span.line;
    let system = match &name.name.schema {
        None => true,
        Some(s) => s.eq_ignore_ascii_case("sys"),
    };
    const LATER: [&str; 3] = ["hierarchyid", "geometry", "geography"];
    if system && LATER.iter().any(|l| l.eq_ignore_ascii_case(bare)) {
        return Err(unsupported(bare, line));
    }
    if !system || SqlType::by_name(bare, 1).is_none() {
        return Err(SqlError::new(messages::TYPE_UNKNOWN, &[&name.name]).at_line(line));
    }
    let sizes = match &name.arguments {
        ast::TypeArguments::None => vec![],
        ast::TypeArguments::Max => vec![TypeSize::Max],
        ast::TypeArguments::One(n) => vec![TypeSize::N(*n)],
        ast::TypeArguments::Two(a, b) => vec![TypeSize::N(*a), TypeSize::N(*b)],
        ast::TypeArguments::Schema(collection) if bare.eq_ignore_ascii_case("xml") => {
            // There are none but the system's own, which no type may name.
            let e = SqlError::new(messages::XML_COLLECTION_UNKNOWN, &[&collection.object]);
            return Err(e.at_line(line));
        }
        ast::TypeArguments::Schema(collection) => {
            let e = SqlError::new(messages::SYNTAX_NEAR, &[&collection.object]);
            return Err(e.at_line(line));
        }
    };
    declare(bare, &sizes, length_default).map_err(|e| e.at_line(line))
}

/// Whether values of two types compare as they are.
fn comparable(a: SqlType, b: SqlType) -> bool {
    a.family() == b.family()
        && (a.family() != Family::Temporal
            || std::mem::discriminant(&a) == std::mem::discriminant(&b))
}

impl Binder<'_> {
    /// The scalar converted to a type, where a statement need not say so.
    pub(crate) fn implicit(&self, x: Scalar, to: SqlType) -> SqlResult<Scalar> {
        self.learn(&x, || Inference::Is(to));
        if x.ty.sql_type == to {
            return Ok(x);
        }
        self.costs(&x, to);
        if takes_any_type(&x) {
            return Ok(Scalar { ty: x.ty.converted(to), ..x });
        }
        check_implicit(x.ty.sql_type, to)?;
        Ok(self.converted(x, to))
    }

    /// The same where only comparing follows: types of one family are left alone.
    pub(crate) fn for_comparison(&self, x: Scalar, to: SqlType) -> SqlResult<Scalar> {
        if !comparable(x.ty.sql_type, to) || untyped(&x).is_some() {
            return self.implicit(x, to);
        }
        self.costs(&x, to);
        Ok(x)
    }

    /// CAST, CONVERT and their TRY_ forms.
    pub(crate) fn cast(&mut self, c: &ast::Cast) -> SqlResult<Scalar> {
        let line = c.target.span.line;
        let to = declared_type(&c.target, 30)?;
        if c.form == ast::CastForm::Parse {
            return self.parse(c, to);
        }
        let operand = self.expr(&c.operand)?;
        let style = match &c.style {
            Some(s) => {
                let style = self.expr(s)?;
                Some(Box::new(self.implicit(style, SqlType::Int)?))
            }
            None => None,
        };
        self.learn(&operand, || Inference::Is(to));
        if !takes_any_type(&operand) {
            check_explicit(operand.ty.sql_type, to).map_err(|e| e.at_line(line))?;
        }
        check_converted(operand.ty, to).map_err(|e| e.at_line(line))?;
        let mut ty = self.as_converted(operand.ty, to);
        ty.nullable |= c.attempt;
        let (operand, implicit) = (Box::new(operand), ImplicitFlag(false));
        let kind = ScalarKind::Cast { operand, style, attempt: c.attempt, implicit };
        Ok(self.folding.fold(Scalar { kind, ty }))
    }

    /// A conversion without style.
    pub(crate) fn converted(&self, x: Scalar, to: SqlType) -> Scalar {
        let ty = self.as_converted(x.ty, to);
        let (operand, implicit) = (Box::new(x), ImplicitFlag(true));
        let kind = ScalarKind::Cast { operand, style: None, attempt: false, implicit };
        self.folding.fold(Scalar { kind, ty })
    }
}
