//! The `command` of sys.dm_exec_requests while a definition runs: its first words.

use tsql::ast::{DropKind, ModuleVerb, StatementKind};

/// The command of a definition, or of another statement about a whole database.
pub(crate) fn command(kind: &StatementKind) -> &'static str {
    use StatementKind as K;
    match kind {
        K::CreateDatabase(_) => "CREATE DATABASE",
        K::AlterDatabase(_) => "ALTER DATABASE",
        K::CreateSchema(_) => "CREATE SCHEMA",
        K::AlterSchema(_) => "ALTER SCHEMA",
        K::CreateTable(_) => "CREATE TABLE",
        K::AlterTable(_) => "ALTER TABLE",
        K::Truncate(_) => "TRUNCATE TABLE",
        K::CreateIndex(_) => "CREATE INDEX",
        K::AlterIndex(_) => "ALTER INDEX",
        K::CreateStatistics(_) => "CREATE STATISTICS",
        K::UpdateStatistics(_) => "UPDATE STATISTICS",
        K::CreatePartitionFunction(_) => "CREATE PARTITION FUNCTION",
        K::AlterPartitionFunction(_) => "ALTER PARTITION FUNCTION",
        K::CreatePartitionScheme(_) => "CREATE PARTITION SCHEME",
        K::Procedure(it) => verb(it.verb, "CREATE PROCEDURE", "ALTER PROCEDURE"),
        K::View(it) => verb(it.verb, "CREATE VIEW", "ALTER VIEW"),
        K::Function(it) => verb(it.verb, "CREATE FUNCTION", "ALTER FUNCTION"),
        K::Trigger(it) => verb(it.verb, "CREATE TRIGGER", "ALTER TRIGGER"),
        K::SwitchTrigger(it) if it.enable => "ENABLE TRIGGER",
        K::SwitchTrigger(_) => "DISABLE TRIGGER",
        K::CreateType(_) => "CREATE TYPE",
        K::Sequence(it) if it.alter => "ALTER SEQUENCE",
        K::Sequence(_) => "CREATE SEQUENCE",
        K::CreateSynonym(_) => "CREATE SYNONYM",
        K::Drop(it) => drop_command(it.kind),
        K::Checkpoint(_) => "CHECKPOINT",
        K::Dbcc(_) => "DBCC",
        K::Reconfigure { .. } => "RECONFIGURE",
        K::AlterServerConfiguration(_) => "ALTER SERVER CONFIGURATION",
        // The statement's text is shown beside it.
        _ => "DDL",
    }
}

/// Whether CREATE OR ALTER creates or alters is known only when it has run.
fn verb(verb: ModuleVerb, create: &'static str, alter: &'static str) -> &'static str {
    match verb {
        ModuleVerb::Create | ModuleVerb::CreateOrAlter => create,
        ModuleVerb::Alter => alter,
    }
}

fn drop_command(kind: DropKind) -> &'static str {
    match kind {
        DropKind::Table => "DROP TABLE",
        DropKind::View => "DROP VIEW",
        DropKind::Procedure => "DROP PROCEDURE",
        DropKind::Function => "DROP FUNCTION",
        DropKind::Trigger => "DROP TRIGGER",
        DropKind::Index => "DROP INDEX",
        DropKind::Statistics => "DROP STATISTICS",
        DropKind::Database => "DROP DATABASE",
        DropKind::Schema => "DROP SCHEMA",
        DropKind::Sequence => "DROP SEQUENCE",
        DropKind::Synonym => "DROP SYNONYM",
        DropKind::Type => "DROP TYPE",
        DropKind::PartitionFunction => "DROP PARTITION FUNCTION",
        DropKind::PartitionScheme => "DROP PARTITION SCHEME",
        DropKind::Default => "DROP DEFAULT",
        DropKind::Rule => "DROP RULE",
        DropKind::User => "DROP USER",
        DropKind::Login => "DROP LOGIN",
        DropKind::Role => "DROP ROLE",
    }
}
