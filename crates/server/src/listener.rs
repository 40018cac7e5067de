//! The listener and the list of connections: start, accept, stop.

use crate::account::Lender;
use crate::certificate::Certificate;
use crate::connection::serve;
use crate::engine::Engine;
use crate::entrance::Entrance;
use crate::failures::Failures;
use crate::link::Link;
use crate::options::Options;
use crate::throttle::{Origin, Throttle};
use crate::workers::Workers;
use os::sync::{Condvar, Mutex};
use os::wait::CancelReason;
use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;

const BACKLOG: u32 = 1024;
/// Connections that may be in their login beyond the limit of sessions.
const LOGINS_BEYOND: usize = 64;
/// As SQL Server's: probes after 30 s of silence, one a second.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(30);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(1);
/// How often idle sessions are looked at for a KILL: who is killed lets its locks go that late.
const KILL_ROUND: Duration = Duration::from_millis(40);
/// How many of these looks go to a round that looks at workers and failed logins, too.
const KILL_ROUNDS: u32 = 6;
/// While there is no room at the door, that long nobody is let in.
const ROOM_PAUSE: Duration = Duration::from_millis(20);
/// After a failed accept (no descriptors left), that long nobody is let in.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// What all connections share.
pub(crate) struct House {
    pub(crate) engine: Arc<dyn Engine>,
    pub(crate) options: Options,
    pub(crate) certificate: Certificate,
    pub(crate) workers: Arc<Workers>,
    pub(crate) throttle: Throttle,
    pub(crate) entrance: Entrance,
    pub(crate) failures: Failures,
    /// What long requests are charged to.
    pub(crate) lender: Option<Lender>,
    links: Mutex<Links>,
    emptied: Condvar,
    stopping: watch::Sender<bool>,
}

#[derive(Default)]
struct Links {
    by_place: HashMap<u64, Weak<Link>>,
    next: u64,
}

impl House {
    /// Enters a connection into the list.
    pub(crate) fn enlist(&self, link: &Arc<Link>) -> u64 {
        let mut links = self.links.lock();
        let place = links.next;
        links.next += 1;
        links.by_place.insert(place, Arc::downgrade(link));
        if self.is_stopping() {
            link.end(CancelReason::Shutdown);
        }
        place
    }

    /// Takes it off the list.
    pub(crate) fn strike(&self, place: u64) {
        let mut links = self.links.lock();
        let was_there = links.by_place.remove(&place).is_some();
        assert!(was_there, "a connection leaves once");
        if links.by_place.is_empty() {
            self.emptied.notify_all();
        }
    }

    /// Whether there are more connections than sessions are allowed.
    pub(crate) fn is_full(&self) -> bool {
        self.links.lock().by_place.len() > self.options.connections_max
    }

    /// A line about a connection.
    pub(crate) fn log(&self, link: &Link, line: &str) {
        self.engine.log(&format!("client {}: {line}", link.wire.peer()));
    }

    /// A line about somebody who did not come in, unless there are too many of them.
    pub(crate) fn log_failure(&self, link: &Link, line: &str) {
        let address = link.wire.address();
        let now_ns = os::clock::monotonic_ns();
        if self.failures.note(Origin::of(address), &address.to_string(), now_ns) {
            self.log(link, line);
        }
    }

    /// Numbers of those of whom no line was written.
    fn tell_failures(&self, at_once: bool) {
        for line in self.failures.overdue(os::clock::monotonic_ns(), at_once) {
            self.engine.log(&line);
        }
    }

    /// Whether the server is to stop.
    pub(crate) fn is_stopping(&self) -> bool {
        *self.stopping.borrow()
    }

    /// Returns when it is.
    pub(crate) async fn stopped(&self) {
        // It ends with the sender, which lives as long as this.
        let _ = self.stopping.subscribe().wait_for(|stopping| *stopping).await;
    }

    fn each_link(&self, act: impl Fn(&Link)) {
        let links: Vec<_> = self.links.lock().by_place.values().filter_map(Weak::upgrade).collect();
        links.iter().for_each(|link| act(link));
    }
}

/// An address that a server will listen on. No other process is given its port as a free one, and
/// no client is let in yet. Where two processes take one port by its number, the second to listen
/// is refused.
pub struct Place {
    socket: TcpSocket,
    address: SocketAddr,
}

impl Place {
    /// Takes the address; port 0 is a free one from here on.
    ///
    /// # Errors
    /// The operating system's: the address is taken, or not ours.
    pub fn take(address: SocketAddr) -> io::Result<Place> {
        let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        let address = socket.local_addr()?;
        Ok(Place { socket, address })
    }

    /// The address with its real port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

/// A listening server. Dropping it stops it without waiting; [`Server::stop`] waits.
pub struct Server {
    house: Arc<House>,
    address: SocketAddr,
}

impl Server {
    /// Listens on that place.
    ///
    /// # Errors
    /// The operating system's: another process listens there, no memory for the runtime.
    pub fn start(
        engine: Arc<dyn Engine>,
        place: Place,
        options: Options,
        certificate: Certificate,
    ) -> io::Result<Server> {
        os::turn::limit(os::task::processors());
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
        let listener = {
            let _within = runtime.enter();
            place.socket.listen(BACKLOG)?
        };
        let address = place.address;
        let house = Arc::new(House {
            lender: engine.memory().map(Lender::new),
            engine,
            workers: Workers::new(options.workers_max),
            certificate,
            throttle: Throttle::default(),
            entrance: Entrance::new(options.logins_max),
            failures: Failures::default(),
            options,
            links: Mutex::default(),
            emptied: Condvar::new(),
            stopping: watch::Sender::new(false),
        });
        runtime.spawn(accept(Arc::clone(&house), listener));
        runtime.spawn(make_rounds(Arc::downgrade(&house)));
        house.workers.drive_from_now_on(runtime);
        Ok(Server { house, address })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Connections, those in their login included.
    pub fn connections(&self) -> usize {
        self.house.links.lock().by_place.len()
    }

    /// Accepts nobody any more, cancels what runs, ends all connections. False when some request
    /// had not ended after `within`.
    pub fn stop(self, within: Duration) -> bool {
        let until_ns = os::clock::monotonic_ns().saturating_add(nanoseconds(within));
        self.house.stopping.send_replace(true);
        self.house.each_link(|link| link.end(CancelReason::Shutdown));
        let mut links = self.house.links.lock();
        while !links.by_place.is_empty() {
            if !self.house.emptied.wait_until(&mut links, Some(until_ns)) {
                break;
            }
        }
        let all_ended = links.by_place.is_empty();
        drop(links);
        self.house.workers.close(until_ns);
        self.house.tell_failures(true);
        all_ended
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.house.stopping.send_replace(true);
        self.house.workers.abandon();
        // Connections that are left end with it: here, or where somebody still drives.
        drop(self.house.workers.take_runtime());
    }
}

fn nanoseconds(d: Duration) -> u64 {
    u64::try_from(d.as_nanos()).unwrap_or(u64::MAX)
}

async fn accept(house: Arc<House>, listener: TcpListener) {
    loop {
        while !house.entrance.has_room(os::clock::monotonic_ns()) {
            tokio::select! {
                () = tokio::time::sleep(ROOM_PAUSE) => {}
                () = house.stopped() => return,
            }
        }
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = house.stopped() => return,
        };
        match accepted {
            Ok((socket, from)) => admit_or_drop(&house, socket, from),
            Err(e) => {
                house.engine.log(&format!("accept: {e}"));
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

fn admit_or_drop(house: &Arc<House>, socket: TcpStream, from: SocketAddr) {
    let open = house.links.lock().by_place.len();
    if open >= house.options.connections_max.saturating_add(LOGINS_BEYOND) {
        return;
    }
    if let Err(e) = settle(&socket) {
        house.engine.log(&format!("socket options: {e}"));
    }
    let place = house.entrance.enter(Origin::of(from.ip()), os::clock::monotonic_ns());
    tokio::spawn(serve(Arc::clone(house), (socket, from), place));
}

/// No delay of small packets; a client that vanished is noticed.
fn settle(socket: &TcpStream) -> io::Result<()> {
    use rustix::net::sockopt;
    socket.set_nodelay(true)?;
    sockopt::set_socket_keepalive(socket, true)?;
    sockopt::set_tcp_keepidle(socket, KEEPALIVE_IDLE)?;
    sockopt::set_tcp_keepintvl(socket, KEEPALIVE_INTERVAL)?;
    Ok(())
}

/// Wakes connections whose idle session may have been killed.
async fn make_rounds(house: Weak<House>) {
    for look in (0..KILL_ROUNDS).cycle() {
        tokio::time::sleep(KILL_ROUND).await;
        let Some(house) = house.upgrade() else { return };
        house.each_link(Link::wake_if_killed);
        if look == 0 {
            house.workers.look_after();
            house.tell_failures(false);
        }
    }
}
