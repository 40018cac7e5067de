//! The reserved words, found by one hash and one comparison.

macro_rules! keywords {
    ($($name:ident $text:literal)*) => {
        /// A reserved word. Every other word of the grammar is an ordinary name elsewhere.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub(crate) enum Keyword {
            /// A word that isn't reserved.
            None,
            $($name,)*
        }
        const WORDS: &[(&str, Keyword)] = &[$(($text, Keyword::$name),)*];
    };
}

keywords! {
    Add "ADD" All "ALL" Alter "ALTER" And "AND" Any "ANY" As "AS" Asc "ASC"
    Authorization "AUTHORIZATION" Backup "BACKUP" Begin "BEGIN" Between "BETWEEN" Break "BREAK"
    Browse "BROWSE" Bulk "BULK" By "BY" Cascade "CASCADE" Case "CASE" Check "CHECK"
    Checkpoint "CHECKPOINT" Close "CLOSE" Clustered "CLUSTERED" Coalesce "COALESCE"
    Collate "COLLATE" Column "COLUMN" Commit "COMMIT" Compute "COMPUTE" Constraint "CONSTRAINT"
    Contains "CONTAINS" ContainsTable "CONTAINSTABLE" Continue "CONTINUE" Convert "CONVERT"
    Create "CREATE" Cross "CROSS" Current "CURRENT" CurrentDate "CURRENT_DATE"
    CurrentTime "CURRENT_TIME" CurrentTimestamp "CURRENT_TIMESTAMP" CurrentUser "CURRENT_USER"
    Cursor "CURSOR" Database "DATABASE" Dbcc "DBCC" Deallocate "DEALLOCATE" Declare "DECLARE"
    Default "DEFAULT" Delete "DELETE" Deny "DENY" Desc "DESC" Disk "DISK" Distinct "DISTINCT"
    Distributed "DISTRIBUTED" Double "DOUBLE" Drop "DROP" Dump "DUMP" Else "ELSE" End "END"
    Errlvl "ERRLVL" Escape "ESCAPE" Except "EXCEPT" Exec "EXEC" Execute "EXECUTE" Exists "EXISTS"
    Exit "EXIT" External "EXTERNAL" Fetch "FETCH" File "FILE" Fillfactor "FILLFACTOR" For "FOR"
    Foreign "FOREIGN" Freetext "FREETEXT" FreetextTable "FREETEXTTABLE" From "FROM" Full "FULL"
    Function "FUNCTION" Goto "GOTO" Grant "GRANT" Group "GROUP" Having "HAVING"
    Holdlock "HOLDLOCK" Identity "IDENTITY" IdentityInsert "IDENTITY_INSERT"
    IdentityCol "IDENTITYCOL" If "IF" In "IN" Index "INDEX" Inner "INNER" Insert "INSERT"
    Intersect "INTERSECT" Into "INTO" Is "IS" Join "JOIN" Key "KEY" Kill "KILL" Left "LEFT"
    Like "LIKE" Lineno "LINENO" Load "LOAD" Merge "MERGE" National "NATIONAL" Nocheck "NOCHECK"
    Nonclustered "NONCLUSTERED" Not "NOT" Null "NULL" Nullif "NULLIF" Of "OF" Off "OFF"
    Offsets "OFFSETS" On "ON" Open "OPEN" OpenDatasource "OPENDATASOURCE" OpenQuery "OPENQUERY"
    OpenRowset "OPENROWSET" OpenXml "OPENXML" Option "OPTION" Or "OR" Order "ORDER" Outer "OUTER"
    Over "OVER" Percent "PERCENT" Pivot "PIVOT" Plan "PLAN"
    Primary "PRIMARY" Print "PRINT" Proc "PROC" Procedure "PROCEDURE" Public "PUBLIC"
    Raiserror "RAISERROR" Read "READ" Readtext "READTEXT" Reconfigure "RECONFIGURE"
    References "REFERENCES" Replication "REPLICATION" Restore "RESTORE" Restrict "RESTRICT"
    Return "RETURN" Revert "REVERT" Revoke "REVOKE" Right "RIGHT" Rollback "ROLLBACK"
    Rowcount "ROWCOUNT" RowGuidCol "ROWGUIDCOL" Rule "RULE" Save "SAVE" Schema "SCHEMA"
    SecurityAudit "SECURITYAUDIT" Select "SELECT" SessionUser "SESSION_USER" Set "SET"
    Setuser "SETUSER" Shutdown "SHUTDOWN" Some "SOME" Statistics "STATISTICS"
    SystemUser "SYSTEM_USER" Table "TABLE" Tablesample "TABLESAMPLE" Textsize "TEXTSIZE"
    Then "THEN" To "TO" Top "TOP" Tran "TRAN" Transaction "TRANSACTION" Trigger "TRIGGER"
    Truncate "TRUNCATE" TryConvert "TRY_CONVERT" Tsequal "TSEQUAL" Union "UNION" Unique "UNIQUE"
    Unpivot "UNPIVOT" Update "UPDATE" Updatetext "UPDATETEXT" Use "USE" User "USER"
    Values "VALUES" Varying "VARYING" View "VIEW" Waitfor "WAITFOR" When "WHEN" Where "WHERE"
    While "WHILE" With "WITH" Within "WITHIN" Writetext "WRITETEXT"
}

const SLOTS: usize = 1024;
const LENGTH_MAX: usize = 17;

/// Index into `WORDS` plus one; 0 is empty. Open addressing, filled at compile time.
static TABLE: [u8; SLOTS] = fill();

/// Of the length and four letters, for a word of at least two.
const fn hash(word: &[u8]) -> usize {
    let n = word.len();
    let four = [word[0], word[1], word[n / 2], word[n - 1]];
    // Letters differ from their other case, and '_' from DEL, by this bit alone.
    let folded = u32::from_le_bytes(four) & 0xdfdf_dfdf;
    let h = (folded ^ n as u32).wrapping_mul(0x9e37_79b1);
    (h >> 16) as usize & (SLOTS - 1)
}

const fn fill() -> [u8; SLOTS] {
    assert!(WORDS.len() < 255, "an entry is one byte");
    let mut table = [0; SLOTS];
    let mut i = 0;
    while i < WORDS.len() {
        let word = WORDS[i].0.as_bytes();
        assert!(word.len() <= LENGTH_MAX, "LENGTH_MAX covers every word");
        let mut slot = hash(word);
        while table[slot] != 0 {
            slot = (slot + 1) & (SLOTS - 1);
        }
        table[slot] = (i + 1) as u8;
        i += 1;
    }
    table
}

/// The reserved word that this is in any case, or `Keyword::None`.
pub(crate) fn lookup(word: &[u8]) -> Keyword {
    if word.len() < 2 || word.len() > LENGTH_MAX {
        return Keyword::None;
    }
    let mut slot = hash(word);
    loop {
        match TABLE[slot] {
            0 => return Keyword::None,
            entry => {
                let (text, keyword) = WORDS[entry as usize - 1];
                if text.as_bytes().eq_ignore_ascii_case(word) {
                    return keyword;
                }
            }
        }
        slot = (slot + 1) & (SLOTS - 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_found_in_any_case_and_no_other() {
        for (text, keyword) in WORDS {
            assert_eq!(lookup(text.as_bytes()), *keyword);
            assert_eq!(lookup(text.to_lowercase().as_bytes()), *keyword);
            assert_eq!(lookup(format!("{text}X").as_bytes()), Keyword::None);
        }
        for name in ["", "a", "level", "pages", "date", "offset", "throw", "CURRENT\u{7f}DATE"] {
            assert_eq!(lookup(name.as_bytes()), Keyword::None, "{name}");
        }
    }
}
