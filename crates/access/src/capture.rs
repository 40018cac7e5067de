//! Noting what is changed in a hobt while another is built from it, and the hobt that is built.
//!
//! A note is of a row before or behind a change: the fields of some columns, in a heap behind the
//! row's RID. It says no more than "look again at this row under these keys".
//!
//! ```text
//! note   field, field, …
//! field  length + 1 (4 bytes; 0 is NULL), bytes
//! ```

use crate::SpillFile;
use base::SqlResult;
use page::Field;

/// A hobt beside whose writers another is built.
pub trait Capture: Send + Sync {
    /// From now on whoever changes a row notes these physical columns of it, as it was and as it
    /// is, or was to be. Nobody may have changed anything that he has not committed.
    fn begin_capture(&self, columns: &[usize], file: Box<dyn SpillFile>);

    /// What has been noted until now, in byte strings of several notes; `next` takes what comes.
    ///
    /// # Errors
    /// What kept a writer from noting his change: the build cannot be completed.
    fn take_captured(&self, next: Box<dyn SpillFile>) -> SqlResult<Box<dyn SpillFile>>;

    /// Puts a note back: its row cannot be looked at yet.
    fn note_again(&self, note: &[u8]);

    /// Nobody notes anything any more.
    fn end_capture(&self);

    /// Whether nobody but the transaction that made the hobt knows of it: then its rows are not
    /// locked, and are put with the uniquifiers that they have.
    fn set_private(&self, private: bool);

    /// From now on, while nobody else knows of it, rows that are put get uniquifiers anew.
    fn number_twins(&self);
}

/// Appends a field to a note.
pub fn note_field(field: Option<&[u8]>, note: &mut Vec<u8>) {
    let Some(bytes) = field else { return note.extend_from_slice(&0_u32.to_le_bytes()) };
    let length = u32::try_from(bytes.len()).expect("a key column is below 2 GB");
    note.extend_from_slice(&(length + 1).to_le_bytes());
    note.extend_from_slice(bytes);
}

/// Takes the next note of so many fields, and its own bytes. Notes come from memory and spill files
/// alone, so they are whole.
pub fn next_note<'a>(
    rest: &mut &'a [u8],
    count: usize,
    fields: &mut Vec<Field<'a>>,
) -> Option<&'a [u8]> {
    fields.clear();
    let all = *rest;
    for _ in 0..count {
        let (length, after) = rest.split_first_chunk::<4>()?;
        let length = u32::from_le_bytes(*length) as usize;
        let (field, after) = match length.checked_sub(1) {
            None => (Field::Null, after),
            Some(length) => {
                let (bytes, after) = after.split_at_checked(length)?;
                (Field::Inline(bytes), after)
            }
        };
        fields.push(field);
        *rest = after;
    }
    Some(&all[..all.len() - rest.len()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_come_back_as_they_were() {
        let (mut notes, mut fields) = (Vec::new(), Vec::new());
        for n in 0_u8..3 {
            note_field(Some(&[n; 5]), &mut notes);
            note_field(None, &mut notes);
            note_field(Some(&[]), &mut notes);
        }
        let mut rest = &*notes;
        for n in 0_u8..3 {
            let own = next_note(&mut rest, 3, &mut fields).expect("a note");
            assert_eq!(own.len(), 4 + 5 + 4 + 4);
            assert_eq!(fields, [Field::Inline(&[n; 5]), Field::Null, Field::Inline(&[])]);
        }
        assert!(rest.is_empty() && next_note(&mut rest, 3, &mut fields).is_none());
    }
}
