//! DBCC PAGE: the output for a page, by style.
//!
//! Differences from SQL Server
//!  - A page whose bytes are damaged is error 824 and is not shown.
//!  - A page of the log has no number here: file 2 is error 2514.

use super::entries;
use super::header;
use super::maps;
use super::printout::Printout;
use super::read::{Allocation, PageCopy, PageOwner, page_of};
use super::slots;
use crate::view::System;
use base::{SqlError, SqlResult, messages};
use database::{Database, LOG_FILE};
use page::PageKind;
use session::{DdlAnswer, PageRequest, Rowset};

/// The valid styles.
const STYLES: std::ops::RangeInclusive<i64> = 0..=3;
/// The state of 2560 for an unknown style.
const NO_STYLE: u8 = 102;

/// DBCC PAGE.
///
/// # Errors
/// 2521 for an unknown database, 8968 for a page that it does not have, 2560 for an unknown style,
/// 2514 if the style does not apply to the page; damaged pages.
pub fn show_page(system: &System<'_>, ask: &PageRequest) -> SqlResult<DdlAnswer> {
    let unknown = || SqlError::new(messages::DBCC_NO_DATABASE_ID, &[&ask.database]).with_state(10);
    let database = system.databases.hold(ask.database)?.ok_or_else(unknown)?;
    if ask.file == i64::from(LOG_FILE.0) {
        let what = "the pages of a log file are not numbered";
        return Err(SqlError::new(messages::DBCC_PAGE_FAILED, &[&what]).with_state(9));
    }
    let id = page_of(&database, ask.file, ask.page).ok_or_else(|| {
        let page = format!("({}:{})", ask.file, ask.page);
        SqlError::new(messages::PAGE_OUT_OF_RANGE, &[&"DBCC PAGE", &page])
    })?;
    if !STYLES.contains(&ask.style) {
        return Err(SqlError::new(messages::DBCC_PARAMETER, &[&4]).with_state(NO_STYLE));
    }
    let copy = PageCopy::of(&database, id)?;
    let allocation = Allocation::of(&database, id)?;
    let owner = PageOwner::of(system, &database, copy.view().alloc_unit());
    let mut printed = Printout::default();
    printed.title(&format!("PAGE: {id}"));
    header::buffer(database.id(), &copy, &mut printed);
    header::header(&copy, owner.as_ref(), &allocation, &mut printed);
    let grid = match ask.style {
        0 => None,
        1 => {
            slots::raw(&copy, &mut printed);
            None
        }
        2 => {
            slots::whole(&copy, &mut printed);
            None
        }
        _ => match database::versions_on(id, &copy.bytes) {
            Some(versions) => {
                let owner_of = |hobt| {
                    let unit = database.hobts().get(hobt)?.spec().unit;
                    PageOwner::of(system, &database, unit)
                };
                slots::versions(&copy, &versions, &owner_of, &mut printed);
                None
            }
            None => decoded(&database, &copy, owner.as_ref(), &mut printed)?,
        },
    };
    Ok(answer(printed, grid, ask.as_table))
}

/// Style 3: the decoded contents of the page.
fn decoded(
    database: &Database,
    copy: &PageCopy,
    owner: Option<&PageOwner>,
    printed: &mut Printout,
) -> SqlResult<Option<Rowset>> {
    match copy.view().kind() {
        Some(PageKind::Index) => match owner.and_then(|o| entries::entries(copy, o)) {
            Some(grid) => return Ok(Some(grid)),
            None => slots::decoded(copy, owner, printed),
        },
        Some(PageKind::Data | PageKind::TextMix | PageKind::TextTree) => {
            slots::decoded(copy, owner, printed);
        }
        Some(PageKind::FileHeader) => file_header(copy, printed),
        Some(PageKind::Boot) => {
            let address = header::Address(copy.address() + page::at::BODY as u64);
            printed.object("PAGE HEADER:", format!("DBINFO @{address}"));
            printed.field("dbi_version", database::boot_version(copy.view()));
        }
        _ if maps::map(database, copy, printed) => {}
        _ => {
            let what = "Invalid page type - dump style 3 not possible";
            return Err(SqlError::new(messages::DBCC_PAGE_FAILED, &[&what]));
        }
    }
    Ok(None)
}

fn file_header(copy: &PageCopy, printed: &mut Printout) {
    let facts = space::file_facts(copy.view());
    printed.object("PAGE HEADER:", "FILE HEADER:");
    let family = types::Value::Guid(facts.family);
    printed.field("BindingID", family);
    printed.field("FileIdProp", facts.file);
    printed.field("Size", facts.size_pages);
}

fn answer(printed: Printout, grid: Option<Rowset>, as_table: bool) -> DdlAnswer {
    let mut answer = DdlAnswer::default();
    if as_table {
        answer.results.push(printed.rows());
    } else {
        let said = |line| SqlError::raw(0, 0, 1, line);
        answer.messages = printed.lines().into_iter().map(said).collect();
    }
    answer.results.extend(grid);
    answer
}
