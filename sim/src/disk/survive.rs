//! What of the unsynced changes a crash leaves: anything that the contract of os::disk allows.
//!
//! A mode is drawn per crash, and in one mode per file: independent coins for every sector alone
//! would never show "the data file is complete and the log is empty", nor a long order kept.

use super::content::Change;
use super::image::{Image, SECTOR};
use crate::random::Random;
use std::collections::VecDeque;

#[derive(Clone, Copy, Debug)]
enum Mode {
    Nothing,
    Everything,
    /// What was issued before an operation; that one torn.
    Before(u64),
    /// What was issued after it; that one torn. Earlier ones vanish.
    After(u64),
    /// Each by a coin: kept in `keep` of 8 cases, and of those torn in `tear` of 8.
    Some {
        keep: u64,
        tear: u64,
    },
    /// The last change of each file alone.
    Last,
    /// Each file has a mode of its own.
    PerFile,
}

/// The fate of one change.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Kept,
    Torn,
    Lost,
}

/// The draws of one crash.
pub(crate) struct Survival {
    random: Random,
    mode: Mode,
    numbers: Vec<u64>,
}

impl Survival {
    /// `numbers`: those of all unsynced changes of the disk, sorted.
    pub(crate) fn new(mut random: Random, numbers: Vec<u64>) -> Self {
        let mode = draw(&mut random, &numbers, true);
        Survival { random, mode, numbers }
    }

    /// Which unsynced changes of names survive.
    pub(crate) fn names(&mut self, numbers: &[u64]) -> Vec<bool> {
        let mode = draw(&mut self.random, numbers, false);
        let mut kept = Vec::new();
        for (i, &n) in numbers.iter().enumerate() {
            let fate = self.fate(mode, n, i + 1 == numbers.len());
            kept.push(fate == Fate::Kept || (fate == Fate::Torn && self.random.one_in(2)));
        }
        kept
    }

    /// A file as the crash leaves it.
    pub(crate) fn image(&mut self, durable: &Image, changes: &VecDeque<(u64, Change)>) -> Image {
        let mode = match self.mode {
            Mode::PerFile => draw(&mut self.random, &self.numbers, false),
            one => one,
        };
        let mut image = durable.clone();
        let mut shortest = durable.len();
        for (i, (number, change)) in changes.iter().enumerate() {
            let fate = self.fate(mode, *number, i + 1 == changes.len());
            match (fate, change) {
                (Fate::Lost, _) => {}
                (Fate::Kept, Change::Write { offset, bytes }) => image.write(bytes, *offset),
                (Fate::Torn, Change::Write { offset, bytes }) => {
                    self.tear(&mut image, bytes, *offset);
                }
                (Fate::Kept | Fate::Torn, Change::SetLen { len }) => {
                    if fate == Fate::Kept || self.random.one_in(2) {
                        image.set_len(*len);
                        shortest = shortest.min(*len);
                    }
                }
            }
        }
        self.cut(&mut image, shortest);
        image
    }

    /// The length may lag behind the content: then what lies behind it is gone.
    fn cut(&mut self, image: &mut Image, shortest: u64) {
        if image.len() <= shortest || !self.random.one_in(4) {
            return;
        }
        let sectors = (image.len() - shortest).div_ceil(SECTOR);
        let grown = if self.random.one_in(2) { 0 } else { self.random.below(sectors) };
        image.set_len(shortest + grown * SECTOR);
    }

    fn fate(&mut self, mode: Mode, number: u64, last: bool) -> Fate {
        match mode {
            Mode::Nothing | Mode::PerFile => Fate::Lost,
            Mode::Everything => Fate::Kept,
            Mode::Before(at) | Mode::After(at) if number == at => Fate::Torn,
            Mode::Before(at) if number < at => Fate::Kept,
            Mode::After(at) if number > at => Fate::Kept,
            Mode::Before(_) | Mode::After(_) => Fate::Lost,
            Mode::Last if last => Fate::Kept,
            Mode::Last => Fate::Lost,
            Mode::Some { keep, .. } if self.random.below(8) >= keep => Fate::Lost,
            Mode::Some { tear, .. } if self.random.below(8) < tear => Fate::Torn,
            Mode::Some { .. } => Fate::Kept,
        }
    }

    /// Some of the sectors of a write reach the medium.
    fn tear(&mut self, image: &mut Image, bytes: &[u8], offset: u64) {
        let first = offset / SECTOR;
        let end = offset + bytes.len() as u64;
        let sectors = end.div_ceil(SECTOR) - first;
        let kind = self.random.below(5);
        let at = self.random.below(sectors + 1);
        for s in 0..sectors {
            let reaches = match kind {
                0 => s < at,
                1 => s >= at,
                2 => s != at,
                3 => s == at,
                _ => self.random.one_in(2),
            };
            if reaches {
                let from = ((first + s) * SECTOR).max(offset);
                let to = ((first + s + 1) * SECTOR).min(end);
                image.write(&bytes[(from - offset) as usize..(to - offset) as usize], from);
            }
        }
    }
}

fn draw(random: &mut Random, numbers: &[u64], per_file: bool) -> Mode {
    let at = match numbers.len() as u64 {
        0 => 0,
        n => numbers[random.below(n) as usize],
    };
    match random.below(if per_file { 12 } else { 8 }) {
        0 => Mode::Nothing,
        1 => Mode::Everything,
        2 => Mode::Before(at),
        3 => Mode::After(at),
        4 => Mode::Last,
        5 => Mode::Some { keep: 8, tear: 8 },
        6 | 7 => Mode::Some { keep: 1 + random.below(7), tear: random.below(5) },
        _ => Mode::PerFile,
    }
}
