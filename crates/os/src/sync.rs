//! Mutex, RwLock and Condvar: parking_lot's, with a simulator's switch points.
//!
//! Under a scheduler a lock is tried; when taken, the task blocks on the lock's address until a
//! guard of it is dropped. No poisoning: a panic that unwinds through a guard leaves what it
//! guards as it is, so a guarded structure must be consistent at each call that can panic.

use crate::latch::LatchClass;
use crate::sched;
use crate::turn;
use crate::wait::{WaitKind, timed_latch};
use std::ops::{Deref, DerefMut};
use std::time::Duration;

/// A mutex that is not free for so long is held by a thread that neither computes nor is about to
/// ([`crate::park`]).
const SHORT: Duration = Duration::from_millis(1);

/// Mutual exclusion for short critical sections that do no I/O.
#[derive(Default, Debug)]
pub struct Mutex<T: ?Sized> {
    class: LatchClass,
    inner: parking_lot::Mutex<T>,
}

/// Exclusive access to what a [`Mutex`] guards.
pub struct MutexGuard<'a, T: ?Sized> {
    inner: Option<parking_lot::MutexGuard<'a, T>>,
    key: usize,
}

impl<T> Mutex<T> {
    /// A mutex around a value.
    pub const fn new(value: T) -> Self {
        Mutex::of(LatchClass::Other, value)
    }

    /// One of a class of its own in sys.dm_os_latch_stats.
    pub const fn of(class: LatchClass, value: T) -> Self {
        Mutex { class, inner: parking_lot::Mutex::new(value) }
    }

    /// The value, when nobody else can hold the lock.
    pub fn into_inner(self) -> T {
        self.inner.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    fn key(&self) -> usize {
        std::ptr::from_ref(&self.inner).cast::<()>() as usize
    }

    /// Waits for exclusive access.
    #[inline]
    pub fn lock(&self) -> MutexGuard<'_, T> {
        let key = self.key();
        match sched::current() {
            None => MutexGuard { inner: Some(self.taken()), key },
            Some(s) => {
                s.switch();
                loop {
                    if let Some(g) = self.inner.try_lock() {
                        return MutexGuard { inner: Some(g), key };
                    }
                    s.block(key, None);
                }
            }
        }
    }

    #[inline]
    fn taken(&self) -> parking_lot::MutexGuard<'_, T> {
        match self.inner.try_lock() {
            Some(guard) => guard,
            None => self.waited_for(),
        }
    }

    /// A thread that holds it for long waits for the disk; others compute meanwhile.
    #[cold]
    fn waited_for(&self) -> parking_lot::MutexGuard<'_, T> {
        timed_latch(WaitKind::LatchEx, self.class, || match self.inner.try_lock_for(SHORT) {
            Some(guard) => guard,
            None => turn::aside(|| self.inner.lock()),
        })
    }

    /// Exclusive access if no thread has it.
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        let key = self.key();
        self.inner.try_lock().map(|g| MutexGuard { inner: Some(g), key })
    }

    /// Access through an exclusive borrow: no locking.
    pub fn get_mut(&mut self) -> &mut T {
        self.inner.get_mut()
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        self.inner.as_deref().expect("a guard holds its lock until it is dropped")
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        self.inner.as_deref_mut().expect("a guard holds its lock until it is dropped")
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.inner = None;
        if let Some(s) = sched::current() {
            s.wake(self.key, true);
        }
    }
}

/// A value on cache lines of its own: one that many sessions write, kept apart from what all of
/// them only read. Two lines, since processors fetch them in pairs.
#[derive(Default, Debug)]
#[repr(align(128))]
pub struct PaddedCell<T>(pub T);

impl<T> Deref for PaddedCell<T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}

/// Waiting for a condition under a [`Mutex`].
#[derive(Default, Debug)]
pub struct Condvar(parking_lot::Condvar);

impl Condvar {
    /// A condition variable.
    pub const fn new() -> Self {
        Condvar(parking_lot::Condvar::new())
    }

    fn key(&self) -> usize {
        std::ptr::from_ref(&self.0).cast::<()>() as usize
    }

    /// Releases the lock, waits for a notification, takes the lock again.
    pub fn wait<T: ?Sized>(&self, guard: &mut MutexGuard<'_, T>) {
        self.wait_until(guard, None);
    }

    /// The same until a monotonic time; false when it passed.
    pub fn wait_until<T: ?Sized>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        deadline_ns: Option<u64>,
    ) -> bool {
        if let Some(s) = sched::current() {
            // Between unlocking and blocking nobody else runs, so no notification is lost.
            let held = guard.inner.take().expect("a guard holds its lock until it is dropped");
            let mutex = parking_lot::MutexGuard::mutex(&held);
            drop(held);
            s.wake(guard.key, true);
            let woken = s.block(self.key(), deadline_ns);
            loop {
                if let Some(g) = mutex.try_lock() {
                    guard.inner = Some(g);
                    return woken;
                }
                s.block(guard.key, None);
            }
        }
        let inner = guard.inner.as_mut().expect("a guard holds its lock until it is dropped");
        match deadline_ns {
            None => {
                self.0.wait(inner);
                true
            }
            Some(at) => {
                let now = crate::clock::monotonic_ns();
                let left = std::time::Duration::from_nanos(at.saturating_sub(now));
                !self.0.wait_for(inner, left).timed_out()
            }
        }
    }

    /// Wakes one waiter.
    pub fn notify_one(&self) {
        match sched::current() {
            None => {
                self.0.notify_one();
            }
            Some(s) => s.wake(self.key(), false),
        }
    }

    /// Wakes all waiters.
    pub fn notify_all(&self) {
        match sched::current() {
            None => {
                self.0.notify_all();
            }
            Some(s) => s.wake(self.key(), true),
        }
    }
}

/// Many readers or one writer, for structures that are read often and changed seldom.
#[derive(Default, Debug)]
pub struct RwLock<T: ?Sized>(parking_lot::RwLock<T>);

/// Shared access to what an [`RwLock`] guards.
pub struct ReadGuard<'a, T: ?Sized> {
    inner: Option<parking_lot::RwLockReadGuard<'a, T>>,
    key: usize,
}

/// Exclusive access to what an [`RwLock`] guards.
pub struct WriteGuard<'a, T: ?Sized> {
    inner: Option<parking_lot::RwLockWriteGuard<'a, T>>,
    key: usize,
}

impl<T> RwLock<T> {
    /// A lock around a value.
    pub const fn new(value: T) -> Self {
        RwLock(parking_lot::RwLock::new(value))
    }
}

impl<T: ?Sized> RwLock<T> {
    fn key(&self) -> usize {
        std::ptr::from_ref(&self.0).cast::<()>() as usize
    }

    #[inline]
    fn taken_to_read(&self) -> parking_lot::RwLockReadGuard<'_, T> {
        let waited = || timed_latch(WaitKind::LatchSh, LatchClass::Other, || self.0.read());
        self.0.try_read().unwrap_or_else(waited)
    }

    #[inline]
    fn taken_to_write(&self) -> parking_lot::RwLockWriteGuard<'_, T> {
        let waited = || timed_latch(WaitKind::LatchEx, LatchClass::Other, || self.0.write());
        self.0.try_write().unwrap_or_else(waited)
    }

    /// Waits for shared access.
    #[inline]
    pub fn read(&self) -> ReadGuard<'_, T> {
        let key = self.key();
        match sched::current() {
            None => ReadGuard { inner: Some(self.taken_to_read()), key },
            Some(s) => {
                s.switch();
                loop {
                    if let Some(g) = self.0.try_read() {
                        return ReadGuard { inner: Some(g), key };
                    }
                    s.block(key, None);
                }
            }
        }
    }

    /// Waits for exclusive access.
    #[inline]
    pub fn write(&self) -> WriteGuard<'_, T> {
        let key = self.key();
        match sched::current() {
            None => WriteGuard { inner: Some(self.taken_to_write()), key },
            Some(s) => {
                s.switch();
                loop {
                    if let Some(g) = self.0.try_write() {
                        return WriteGuard { inner: Some(g), key };
                    }
                    s.block(key, None);
                }
            }
        }
    }
}

impl<T: ?Sized> Deref for ReadGuard<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        self.inner.as_deref().expect("a guard holds its lock until it is dropped")
    }
}

impl<T: ?Sized> Drop for ReadGuard<'_, T> {
    fn drop(&mut self) {
        self.inner = None;
        if let Some(s) = sched::current() {
            s.wake(self.key, true);
        }
    }
}

impl<T: ?Sized> Deref for WriteGuard<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        self.inner.as_deref().expect("a guard holds its lock until it is dropped")
    }
}

impl<T: ?Sized> DerefMut for WriteGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        self.inner.as_deref_mut().expect("a guard holds its lock until it is dropped")
    }
}

impl<T: ?Sized> Drop for WriteGuard<'_, T> {
    fn drop(&mut self) {
        self.inner = None;
        if let Some(s) = sched::current() {
            s.wake(self.key, true);
        }
    }
}
