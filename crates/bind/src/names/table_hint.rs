//! OPTION (TABLE HINT (name, hint, …)): the hints of one reference, in place of those beside it.
//!
//! Which index is read is the option's alone to say; what changes the answer (locks, levels) must
//! be said in both places alike. Source: "Hints (Transact-SQL) - Query", TABLE HINT.

use crate::binder::Binder;
use crate::names::hint::TableHintOption;
use base::{SqlError, SqlResult, messages};
use std::borrow::Cow;
use tsql::ast::{self, TableHint, TableHintKind as K};

impl Binder<'_> {
    /// Remembers the option for when the table is met.
    ///
    /// # Errors
    /// 8720: there is one for the table already.
    pub(crate) fn table_hint(
        &mut self,
        table: &ast::ObjectName,
        hints: &[TableHint],
    ) -> SqlResult<()> {
        if self.table_hints.iter().any(|h| self.is_exposed(&h.table, table, None)) {
            let error = SqlError::new(messages::TABLE_HINT_TWICE, &[table]);
            return Err(error.at_line(table.span.line));
        }
        let hints = hints.to_vec();
        self.table_hints.push(TableHintOption { table: table.clone(), hints, used: false });
        Ok(())
    }

    /// The hints of a reference of the statement's own text.
    ///
    /// # Errors
    /// 8722 where option and reference differ in what changes the answer.
    pub(crate) fn hints_of<'h>(
        &mut self,
        name: &ast::ObjectName,
        alias: Option<&ast::Name>,
        beside: &'h [TableHint],
    ) -> SqlResult<Cow<'h, [TableHint]>> {
        if !self.modules.is_empty() {
            return Ok(Cow::Borrowed(beside));
        }
        let found = self.table_hints.iter().position(|h| self.is_exposed(&h.table, name, alias));
        let Some(hinted) = found.map(|at| &mut self.table_hints[at]) else {
            return Ok(Cow::Borrowed(beside));
        };
        hinted.used = true;
        let within = hinted.hints.clone();
        alike(&hinted.table, ("WITH", beside), ("TABLE HINT", &within))?;
        alike(&hinted.table, ("TABLE HINT", &within), ("WITH", beside))?;
        Ok(Cow::Owned(within))
    }

    /// Every option has met its table.
    ///
    /// # Errors
    /// 8723.
    pub(crate) fn table_hints_met(&self) -> SqlResult<()> {
        match self.table_hints.iter().find(|h| !h.used) {
            None => Ok(()),
            Some(h) => Err(SqlError::new(messages::TABLE_HINT_UNKNOWN, &[&h.table])),
        }
    }

    /// Whether an option names a reference: by its alias, else as the text does.
    fn is_exposed(
        &self,
        hinted: &ast::ObjectName,
        name: &ast::ObjectName,
        alias: Option<&ast::Name>,
    ) -> bool {
        let same = |a: &Option<ast::Name>, b: &Option<ast::Name>| match (a, b) {
            (Some(a), Some(b)) => self.same(&a.text, &b.text),
            (a, b) => a.is_none() && b.is_none(),
        };
        match alias {
            Some(alias) => hinted.schema.is_none() && self.same(&hinted.object.text, &alias.text),
            None => {
                self.same(&hinted.object.text, &name.object.text)
                    && same(&hinted.schema, &name.schema)
                    && same(&hinted.database, &name.database)
            }
        }
    }
}

/// Whether what one clause says of locks and the like is said by the other, too.
fn alike(
    table: &ast::ObjectName,
    (here, some): (&str, &[TableHint]),
    (there, others): (&str, &[TableHint]),
) -> SqlResult<()> {
    for hint in some {
        let said = || others.iter().any(|other| other.kind == hint.kind);
        if let Some(word) = word(&hint.kind).filter(|_| !said()) {
            let args: [&dyn std::fmt::Display; 4] = [&word, &here, table, &there];
            return Err(SqlError::new(messages::TABLE_HINT_DIFFERS, &args).at_line(hint.span.line));
        }
    }
    Ok(())
}

/// A hint that changes more than the choice of an index.
fn word(kind: &K) -> Option<&'static str> {
    Some(match kind {
        K::Index(_) | K::ForceSeek(_) | K::ForceScan => return None,
        K::NoLock => "NOLOCK",
        K::ReadUncommitted => "READUNCOMMITTED",
        K::ReadCommitted => "READCOMMITTED",
        K::ReadCommittedLock => "READCOMMITTEDLOCK",
        K::RepeatableRead => "REPEATABLEREAD",
        K::Serializable => "SERIALIZABLE",
        K::HoldLock => "HOLDLOCK",
        K::Snapshot => "SNAPSHOT",
        K::ReadPast => "READPAST",
        K::RowLock => "ROWLOCK",
        K::PageLock => "PAGLOCK",
        K::TableLock => "TABLOCK",
        K::TableLockExclusive => "TABLOCKX",
        K::UpdateLock => "UPDLOCK",
        K::ExclusiveLock => "XLOCK",
        K::NoWait => "NOWAIT",
        K::NoExpand => "NOEXPAND",
        K::KeepIdentity => "KEEPIDENTITY",
        K::KeepDefaults => "KEEPDEFAULTS",
        K::IgnoreConstraints => "IGNORE_CONSTRAINTS",
        K::IgnoreTriggers => "IGNORE_TRIGGERS",
        K::SpatialWindowMaxCells(_) => "SPATIAL_WINDOW_MAX_CELLS",
    })
}
