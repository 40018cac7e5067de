//! ALL_HEADERS: what precedes every request of TDS 7.2 and later.

use crate::error::{TdsError, TdsResult};
use crate::reader::Reader;
use crate::writer::WireWriter;

/// The headers of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Headers {
    /// The transaction in which it wants to run, as ENVCHANGE named it; 0 outside one.
    pub transaction: u64,
    /// Requests of the connection that are running, this one included: 1 without MARS.
    pub outstanding: u32,
    /// The activity it belongs to, for logs.
    pub activity: Option<([u8; 16], u32)>,
    /// Whether it asks for query notifications, which we do not have.
    pub wants_notification: bool,
}

const QUERY_NOTIFICATIONS: u16 = 1;
const TRANSACTION_DESCRIPTOR: u16 = 2;
const TRACE_ACTIVITY: u16 = 3;

impl Headers {
    /// The headers of a client without MARS, in a transaction or (0) outside.
    pub fn new(transaction: u64) -> Headers {
        Headers { transaction, outstanding: 1, ..Headers::default() }
    }

    pub(crate) fn decode(r: &mut Reader<'_>) -> TdsResult<Headers> {
        let at = r.offset();
        let malformed = TdsError::Malformed { field: "ALL_HEADERS", offset: at };
        let total = r.u32()? as usize;
        let Some(rest) = total.checked_sub(4) else { return Err(malformed) };
        let mut r = Reader::new(r.take(rest)?);
        let mut headers = Headers::default();
        while !r.is_empty() {
            let length = r.u32().map_err(|_| malformed.clone())? as usize;
            let Some(rest) = length.checked_sub(4) else { return Err(malformed) };
            let bytes = r.take(rest).map_err(|_| malformed.clone())?;
            headers.set(&mut Reader::new(bytes)).map_err(|_| malformed.clone())?;
        }
        Ok(headers)
    }

    fn set(&mut self, r: &mut Reader<'_>) -> TdsResult<()> {
        match r.u16()? {
            TRANSACTION_DESCRIPTOR => {
                self.transaction = r.u64()?;
                self.outstanding = r.u32()?;
            }
            TRACE_ACTIVITY => self.activity = Some((r.array()?, r.u32()?)),
            QUERY_NOTIFICATIONS => self.wants_notification = true,
            // Later versions may add some; what they say is optional by the protocol.
            _ => {}
        }
        Ok(())
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        let activity = if self.activity.is_some() { 26 } else { 0 };
        out.put_u32(22 + activity);
        out.put_u32(18);
        out.put_u16(TRANSACTION_DESCRIPTOR);
        out.put_u64(self.transaction);
        out.put_u32(self.outstanding);
        if let Some((id, sequence)) = &self.activity {
            out.put_u32(26);
            out.put_u16(TRACE_ACTIVITY);
            out.extend_from_slice(id);
            out.put_u32(*sequence);
        }
    }
}
