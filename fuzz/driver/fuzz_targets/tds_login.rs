//! Target `tds_login` for libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::run("tds_login", data));
