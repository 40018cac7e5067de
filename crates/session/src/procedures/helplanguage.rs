//! `sp_helplanguage ['language']`: rows of sys.syslanguages. 15033 for an unknown name.

use super::text::{TextProcedure, run as run_text};
use crate::answer::failure::Failure;
use crate::answer::output::Output;
use crate::procedures::call::Call;
use crate::session::Session;
use base::{SqlError, messages};
use types::datetime::Language;

pub(crate) fn run(
    session: &mut Session,
    call: &mut Call,
    out: &mut Output<'_>,
) -> Result<i32, Failure> {
    if let Some(name) = call.text("@language", 0)
        && Language::by_name(&name).is_none()
    {
        return Err(SqlError::new(messages::LANGUAGE_NOT_OFFICIAL, &[&name]).into());
    }
    run_text(session, call, out, &HELP)
}

const HELP: TextProcedure = TextProcedure {
    parameters: "@language sysname = NULL",
    text: "SET NOCOUNT ON;
SELECT langid, dateformat, datefirst, upgrade, name, alias, months, shortmonths, days, lcid,
  msglangid
FROM sys.syslanguages
WHERE @language IS NULL OR name = @language OR alias = @language
ORDER BY langid",
};
