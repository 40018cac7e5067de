//! The bytes of a file: chunks that copies share until one of them writes.

use std::sync::Arc;

/// The unit that a disk writes whole or not at all.
pub(crate) const SECTOR: u64 = 512;
const CHUNK: usize = 4096;

type Chunk = Option<Arc<[u8; CHUNK]>>;

/// A file's content. Cloning costs a pointer per 4,096 bytes; what was never written is zero
/// and costs nothing.
///
/// Invariant: bytes at and behind `len` are zero, so that growing shows zeros.
#[derive(Clone, Default)]
pub(crate) struct Image {
    chunks: Vec<Chunk>,
    len: u64,
}

impl Image {
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    pub(crate) fn set_len(&mut self, len: u64) {
        if len < self.len {
            let whole = len.div_ceil(CHUNK as u64) as usize;
            self.chunks.truncate(whole);
            let inside = (len % CHUNK as u64) as usize;
            let cut = (inside > 0).then(|| self.chunks.get_mut(whole - 1)).flatten();
            if let Some(Some(last)) = cut {
                Arc::make_mut(last)[inside..].fill(0);
            }
        }
        self.len = len;
    }

    /// Writes, and grows the file when it must.
    pub(crate) fn write(&mut self, data: &[u8], offset: u64) {
        let end = offset + data.len() as u64;
        self.len = self.len.max(end);
        let need = end.div_ceil(CHUNK as u64) as usize;
        if self.chunks.len() < need {
            self.chunks.resize(need, None);
        }
        let mut rest = data;
        let mut at = offset;
        while !rest.is_empty() {
            let inside = (at % CHUNK as u64) as usize;
            let n = rest.len().min(CHUNK - inside);
            let chunk = &mut self.chunks[(at / CHUNK as u64) as usize];
            let bytes = chunk.get_or_insert_with(|| Arc::new([0; CHUNK]));
            Arc::make_mut(bytes)[inside..inside + n].copy_from_slice(&rest[..n]);
            rest = &rest[n..];
            at += n as u64;
        }
    }

    /// Fills the buffer; false when the file is too short.
    pub(crate) fn read(&self, out: &mut [u8], offset: u64) -> bool {
        if offset.checked_add(out.len() as u64).is_none_or(|end| end > self.len) {
            return false;
        }
        let mut done = 0;
        while done < out.len() {
            let at = offset + done as u64;
            let inside = (at % CHUNK as u64) as usize;
            let n = (out.len() - done).min(CHUNK - inside);
            match self.chunks.get((at / CHUNK as u64) as usize) {
                Some(Some(c)) => out[done..done + n].copy_from_slice(&c[inside..inside + n]),
                Some(None) | None => out[done..done + n].fill(0),
            }
            done += n;
        }
        true
    }

    /// Takes over another image's chunks where a write has touched them.
    pub(crate) fn share(&mut self, from: &Image, offset: u64, len: u64) {
        let first = (offset / CHUNK as u64) as usize;
        let behind = ((offset + len).div_ceil(CHUNK as u64) as usize).min(from.chunks.len());
        if self.chunks.len() < behind {
            self.chunks.resize(behind, None);
        }
        if first < behind {
            self.chunks[first..behind].clone_from_slice(&from.chunks[first..behind]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_like_a_vector_of_bytes() {
        let mut r = crate::Random::new(3);
        let (mut image, mut model) = (Image::default(), Vec::new());
        for step in 0..3000_u64 {
            let at = if r.one_in(20) { 0 } else { r.below(20_000) as usize };
            let n = r.below(9_000) as usize;
            match r.below(4) {
                0 => {
                    image.set_len(at as u64);
                    model.resize(at, 0);
                }
                1 => {
                    let copy = image.clone();
                    image.write(&[9], 0);
                    image = copy;
                }
                _ => {
                    let data = vec![step as u8 | 1; n];
                    image.write(&data, at as u64);
                    let end = model.len().max(at + n);
                    model.resize(end, 0);
                    model[at..at + n].copy_from_slice(&data);
                }
            }
            assert_eq!(image.len(), model.len() as u64);
            let mut all = vec![1; model.len()];
            assert!(image.read(&mut all, 0));
            assert!(all == model, "step {step}");
            assert!(!image.read(&mut [0], model.len() as u64));
        }
    }
}
