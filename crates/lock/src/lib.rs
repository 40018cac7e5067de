//! Modes, queues, escalation advice, deadlock search, over opaque resource keys.

#![forbid(unsafe_code)]
