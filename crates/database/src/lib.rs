//! One open database: wiring of floors 2-5, redo table, boot, open, recover, close.

#![forbid(unsafe_code)]
