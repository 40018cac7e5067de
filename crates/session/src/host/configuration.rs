//! Options of the server: `sp_configure`, RECONFIGURE, `sys.configurations`.
//!
//! An option has a configured value and a value in use. RECONFIGURE copies the first to the second.
//! An option that cannot be changed here is shown with the value that applies; a change of it is
//! refused by name. The host keeps configured values across restarts.

use os::sync::RwLock;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

/// An option as declared.
#[derive(Debug)]
pub struct ServerOption {
    /// `configuration_id`
    pub id: i32,
    /// Its name.
    pub name: &'static str,
    /// The value that applies until somebody configures the option.
    pub default: i32,
    /// The least and the largest value.
    pub range: (i32, i32),
    /// Its description, as `sys.configurations` shows it.
    pub description: &'static str,
    /// Whether RECONFIGURE suffices; else a restart is needed.
    pub dynamic: bool,
    /// Whether it is shown only while 'show advanced options' is 1.
    pub advanced: bool,
    /// Whether it can be changed.
    pub changes: bool,
    /// Whether a change of it removes all cached plans.
    pub frees_plans: bool,
}

macro_rules! server_options {
    ($($variant:ident = $id:literal, $name:literal, $default:expr, $range:expr, $flags:expr,
       $description:literal;)*) => {
        /// An option of the server.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Setting {
            $(#[doc = $name] $variant,)*
        }

        /// Every option by id.
        pub static SERVER_OPTIONS: [ServerOption; [$($id),*].len()] = [$(ServerOption {
            id: $id,
            name: $name,
            default: $default,
            range: $range,
            description: $description,
            dynamic: $flags & STATIC == 0,
            advanced: $flags & ADVANCED != 0,
            changes: $flags & FIXED == 0,
            frees_plans: $flags & PLANS != 0,
        }),*];
    };
}

const ADVANCED: u8 = 1;
const STATIC: u8 = 2;
const FIXED: u8 = 4;
const PLANS: u8 = 8;

server_options! {
    UserConnections = 103, "user connections", 0, (0, 32_767), ADVANCED | STATIC | FIXED,
        "Number of user connections allowed";
    NestedTriggers = 115, "nested triggers", 1, (0, 1), 0,
        "Allow triggers to be invoked within triggers";
    DefaultLanguage = 124, "default language", 0, (0, 9999), FIXED, "default language";
    MaxWorkerThreads = 503, "max worker threads", 0, (128, 65_535), ADVANCED | FIXED,
        "Maximum worker threads";
    PacketBytes = 505, "network packet size (B)", 4096, (512, 32_767), ADVANCED | FIXED,
        "Network packet size";
    ShowAdvanced = 518, "show advanced options", 0, (0, 1), 0, "show advanced options";
    UserOptions = 1534, "user options", 0, (0, 32_767), PLANS, "user options";
    CostThreshold = 1538, "cost threshold for parallelism", 5, (0, 32_767), ADVANCED | PLANS,
        "cost threshold for parallelism";
    MaxDegree = 1539, "max degree of parallelism", 0, (0, 32_767), ADVANCED | PLANS,
        "maximum degree of parallelism";
    MinQueryMemory = 1540, "min memory per query (KB)", 512, (512, i32::MAX), ADVANCED | PLANS,
        "minimum memory per query (KBytes)";
    QueryWait = 1541, "query wait (s)", -1, (-1, i32::MAX), ADVANCED | PLANS,
        "maximum time to wait for query memory (s)";
    MaxMemory = 1544, "max server memory (MB)", i32::MAX, (16, i32::MAX), ADVANCED | FIXED,
        "Maximum size of server memory (MB)";
    InDoubt = 1570, "in-doubt xact resolution", 0, (0, 2), ADVANCED,
        "Recovery policy for DTC transactions with unknown outcome";
    AdHocWorkloads = 1581, "optimize for ad hoc workloads", 0, (0, 1), ADVANCED | FIXED,
        "When this option is set, plan cache size is further reduced for single-use adhoc OLTP workload.";
    CleanerRetry = 1591, "ADR cleaner retry timeout (min)", 15, (0, 32_767), ADVANCED,
        "ADR cleaner retry timeout.";
    Preallocation = 1592, "ADR Preallocation Factor", 4, (0, 32_767), ADVANCED,
        "ADR Preallocation Factor.";
    CleanerThreads = 1598, "ADR Cleaner Thread Count", 1, (1, 32_767), ADVANCED,
        "Max number of threads ADR cleaner can assign.";
    CommandShell = 16_390, "xp_cmdshell", 0, (0, 1), ADVANCED | FIXED,
        "Enable or disable command shell";
}

/// The values of a server's options.
#[derive(Debug)]
pub struct Configuration {
    configured: RwLock<BTreeMap<i32, i32>>,
    in_use: [AtomicI32; SERVER_OPTIONS.len()],
}

impl Configuration {
    /// The configuration with these configured values, by id. Unknown options and values that are
    /// out of range are ignored.
    pub fn new(configured: &BTreeMap<i32, i32>, max_memory_mb: i32) -> Configuration {
        let value = |o: &ServerOption| match configured.get(&o.id) {
            _ if o.id == Setting::MaxMemory.option().id => max_memory_mb,
            Some(value) if o.changes && (o.range.0..=o.range.1).contains(value) => *value,
            _ => o.default,
        };
        let all = SERVER_OPTIONS.iter().map(|o| (o.id, value(o)));
        let in_use = std::array::from_fn(|n| AtomicI32::new(value(&SERVER_OPTIONS[n])));
        Configuration { configured: RwLock::new(all.collect()), in_use }
    }

    /// The value in use.
    #[inline]
    pub fn in_use(&self, setting: Setting) -> i32 {
        self.in_use[setting as usize].load(Relaxed)
    }

    /// The same for an option of [`SERVER_OPTIONS`].
    pub fn of(&self, option: &ServerOption) -> i32 {
        let at = SERVER_OPTIONS.iter().position(|o| o.id == option.id);
        at.map_or(option.default, |at| self.in_use[at].load(Relaxed))
    }

    /// The configured value.
    pub fn configured(&self, option: &ServerOption) -> i32 {
        self.configured.read().get(&option.id).copied().unwrap_or(option.default)
    }

    /// All configured values, by id.
    pub fn all_configured(&self) -> BTreeMap<i32, i32> {
        self.configured.read().clone()
    }

    /// Configures an option. Returns the value before.
    pub(crate) fn configure(&self, option: &ServerOption, value: i32) -> i32 {
        self.configured.write().insert(option.id, value).unwrap_or(option.default)
    }

    /// RECONFIGURE. Returns whether all cached plans must be removed.
    pub fn install(&self) -> bool {
        let configured = self.configured.read();
        let mut frees_plans = false;
        for (option, in_use) in SERVER_OPTIONS.iter().zip(&self.in_use) {
            let value = configured.get(&option.id).copied().unwrap_or(option.default);
            if option.dynamic && in_use.swap(value, Relaxed) != value {
                frees_plans |= option.frees_plans;
            }
        }
        frees_plans
    }
}

impl Setting {
    /// The option's declaration.
    pub fn option(self) -> &'static ServerOption {
        &SERVER_OPTIONS[self as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_stand_by_id_and_begin_as_they_were_configured() {
        assert!(SERVER_OPTIONS.is_sorted_by_key(|o| o.id));
        let kept = BTreeMap::from([(115, 0), (1539, 99_999), (505, 512), (1544, 1)]);
        let configuration = Configuration::new(&kept, 128);
        assert_eq!(configuration.in_use(Setting::NestedTriggers), 0);
        assert_eq!(configuration.in_use(Setting::MaxDegree), 0, "out of its range");
        assert_eq!(configuration.in_use(Setting::PacketBytes), 4096, "cannot be changed");
        assert_eq!(configuration.in_use(Setting::MaxMemory), 128);
    }

    #[test]
    fn what_is_configured_holds_from_reconfigure_on() {
        let configuration = Configuration::new(&BTreeMap::new(), 128);
        let option = Setting::CostThreshold.option();
        assert_eq!(configuration.configure(option, 50), 5);
        assert_eq!((configuration.configured(option), configuration.of(option)), (50, 5));
        assert!(configuration.install());
        assert_eq!(configuration.in_use(Setting::CostThreshold), 50);
        assert!(!configuration.install(), "nothing has changed");
    }
}
