//! Why a column is constant, where many columns share the reason.

pub(crate) const NO_REPLICATION: &str = "There is no replication.";
pub(crate) const NO_OWNERS: &str = "Objects belong to the owner of their schema.";
pub(crate) const NO_COLUMNSTORE: &str = "There are no columnstore indexes yet.";
pub(crate) const NO_VERSIONS: &str = "There are no row versions yet.";
pub(crate) const NO_LARGE_UNITS: &str = "Large values have no allocation unit of their own yet.";
pub(crate) const NO_MEMORY_TABLES: &str = "There are no memory-optimized tables.";
pub(crate) const NO_LEDGER: &str = "There are no ledger tables.";
pub(crate) const NO_GRAPH: &str = "There are no graph tables.";
pub(crate) const NO_TEMPORAL: &str = "There are no system-versioned tables.";
pub(crate) const NO_FILESTREAM: &str = "There is no FILESTREAM.";
pub(crate) const NO_XML: &str = "There is no type xml yet.";
pub(crate) const NO_RULES: &str = "There are no bound rules and defaults.";
pub(crate) const NO_ENCRYPTION: &str = "There is no encryption at rest.";
pub(crate) const NO_SPARSE: &str = "There are no sparse columns.";
pub(crate) const NO_CLR: &str = "There is no CLR.";
pub(crate) const NO_CDC: &str = "There is no change data capture.";
pub(crate) const NO_STRETCH: &str = "There is no Stretch Database.";
pub(crate) const NO_BACKUP: &str = "There are no backups yet.";
pub(crate) const NO_FULL_TEXT: &str = "There is no full-text search.";
pub(crate) const NO_BROKER: &str = "There is no Service Broker.";
pub(crate) const NO_GROUPS: &str = "There are no availability groups.";
pub(crate) const NO_PARTITIONS: &str = "Tables and indexes have one partition.";
pub(crate) const NO_COMPRESSION: &str = "There is no data compression.";
pub(crate) const NO_DTC: &str = "There are no distributed transactions.";
pub(crate) const NO_PAGE_SERVERS: &str = "There are no page servers.";
pub(crate) const NO_GOVERNOR: &str = "There is no resource governor: all is in the default group.";
pub(crate) const NO_CONTAINMENT: &str = "There are no contained databases.";
pub(crate) const NO_SYNAPSE: &str = "A feature of other products.";
pub(crate) const ONE_FILEGROUP: &str = "The one filegroup is PRIMARY.";
pub(crate) const OF_THIS_VIEW: &str = "What this view selects.";
pub(crate) const EMPTY: &str = "The view has no rows.";
pub(crate) const NOT_PUBLISHED: &str = "Sessions do not publish it yet.";
pub(crate) const NO_HANDLES: &str = "Plans and texts have no handles yet.";
pub(crate) const NO_SCHEDULERS: &str =
    "Threads are the operating system's; there are no schedulers.";
