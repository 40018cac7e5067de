//! What an operator can set for the server.

use std::time::Duration;

/// Whether a client may talk without encryption.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Strictness {
    /// As the client wishes: the default, since some drivers refuse any other answer.
    Offered,
    /// Everything is encrypted; who cannot is refused.
    Forced,
}

/// The door's settings.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether encryption is forced.
    pub encryption: Strictness,
    /// From accept until the login is answered.
    pub login_timeout: Duration,
    /// Connections at once of which no login has come yet.
    pub logins_max: usize,
    /// Sessions at once ('user connections').
    pub connections_max: usize,
    /// Requests that run at once ('max worker threads').
    pub workers_max: usize,
    /// Packet bytes for clients that leave it to the server ('network packet size').
    pub packet_bytes: u16,
    /// The longest request.
    pub request_bytes_max: usize,
    /// What may wait for a client that does not read before its request waits.
    pub output_bytes_max: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            encryption: Strictness::Offered,
            login_timeout: Duration::from_secs(15),
            logins_max: 512,
            connections_max: 32_767,
            workers_max: 512,
            packet_bytes: tds::PACKET_SIZE_DEFAULT,
            request_bytes_max: 256 << 20,
            output_bytes_max: 128 << 10,
        }
    }
}
