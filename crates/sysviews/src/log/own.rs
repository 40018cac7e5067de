//! Records of the log itself. They have no page, so no handler describes them.

use base::TransactionId;
use txn::{Begin, EndPayload};
use wal::{RecordDescription, RecordView, kinds};

/// The `LOP_` name; SQL Server has none for a compensation that changes no page.
pub(crate) fn describe<'a>(record: &RecordView<'a>) -> RecordDescription<'a> {
    let operation = match record.kind() {
        kinds::INCARNATION => "LOP_BEGIN_RECOVERY",
        kinds::BEGIN => "LOP_BEGIN_XACT",
        kinds::COMMIT => "LOP_COMMIT_XACT",
        kinds::ABORT => "LOP_ABORT_XACT",
        kinds::SAVEPOINT => "LOP_MARK_SAVEPOINT",
        kinds::CHECKPOINT_BEGIN => "LOP_BEGIN_CKPT",
        kinds::CHECKPOINT_TRANSACTIONS => "LOP_XACT_CKPT",
        kinds::CHECKPOINT_END | kinds::CHECKPOINT_END_UNTIMED => "LOP_END_CKPT",
        kinds::PREPARE => "LOP_PREP_XACT",
        kinds::FORGET => "LOP_FORGET_XACT",
        kinds::VERSION_NUMBER => "LOP_XACT_VERSIONS",
        kinds::REVERTED => "LOP_XACT_REVERTED",
        kinds::PART_ABORTED => "LOP_XACT_PART_ABORTED",
        kinds::KEPT_RECORD => "LOP_XACT_KEPT_RECORD",
        _ => "LOP_COMPENSATION",
    };
    RecordDescription::new(operation, "LCX_NULL")
}

/// The contents of a begin record.
pub(crate) fn begin<'a>(record: &RecordView<'a>) -> Option<Begin<'a>> {
    (record.kind() == kinds::BEGIN).then(|| Begin::parse(record.payload())).flatten()
}

/// When a transaction ended, in wall nanoseconds.
pub(crate) fn ended_at(record: &RecordView<'_>) -> Option<i64> {
    let ends = matches!(record.kind(), kinds::COMMIT | kinds::ABORT);
    ends.then(|| EndPayload::parse(record.payload())).flatten().map(|ended| ended.at)
}

/// `0000:00000a1b`; records carry the low 32 bits.
pub(crate) fn transaction_text(low: u32) -> String {
    let id = TransactionId(u64::from(low));
    format!("{:04x}:{:08x}", id.0 >> 32, id.0 & 0xFFFF_FFFF)
}
