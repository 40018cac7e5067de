//! Values of a database's identity columns and sequences. Small transactions of their own reserve
//! them in advance.

use crate::database::Database;
use base::{HobtId, SqlResult};
use catalog::{Changes, IdentityStore};
use work::CommitMode;

impl IdentityStore for Database {
    fn reserve(&self, hobt: HobtId, reserved: i128) -> SqlResult<()> {
        self.reserve_by(hobt, reserved, CommitMode::Delayed)
    }

    fn reserve_at_once(&self, hobt: HobtId, reserved: i128) -> SqlResult<()> {
        self.reserve_by(hobt, reserved, CommitMode::Full)
    }
}

impl Database {
    fn reserve_by(&self, hobt: HobtId, reserved: i128, mode: CommitMode) -> SqlResult<()> {
        if !self.survives {
            return Ok(());
        }
        let name = self.home.name();
        let mut work = self.system_work();
        work.begin(false, "IdentityReserve");
        let put = Changes::new(&*self.hobts).put_identity(&mut work, hobt, reserved);
        if let Err(e) = put {
            work.roll_back().map_err(|e| e.into_sql(&name))?;
            return Err(e);
        }
        work.commit(mode).map_err(|e| e.into_sql(&name))
    }
}
