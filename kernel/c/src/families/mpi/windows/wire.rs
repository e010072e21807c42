//! What ranks tell each other about windows.

use alloc::vec::Vec;

use crate::families::mpi::datatypes::Flat;

/// Where values are in a part: from a displacement on, as a datatype of the origin's says.
#[derive(Clone)]
pub(super) struct Place {
    /// In units of the target, or an address if the window is dynamic.
    pub(super) displacement: i64,
    pub(super) count: usize,
    pub(super) flat: Flat,
}

/// What an operation is about: the handle of an operator, and that of the basic type that it works on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct How {
    pub(super) operator: u16,
    pub(super) basic: u16,
}

/// How a lock is wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct LockWanted {
    pub(super) is_exclusive: bool,
    /// The rank has other locks, or has locked all.
    pub(super) joins: bool,
}

/// Something that a rank says to another one.
pub(super) enum Word {
    /// Bytes for a part.
    Put(Place, Vec<u8>),
    /// Bytes of a part are wanted, for the ticket.
    Get(u32, Place),
    /// Operands for a part.
    Accumulate(How, Place, Vec<u8>),
    /// The same, and what was there before is wanted.
    Fetch(u32, How, Place, Vec<u8>),
    /// The value that is expected, and behind it the one to be put there if it is.
    Swap(u32, Place, Vec<u8>),
    /// What was wanted.
    Reply(u32, Vec<u8>),
    /// The lock is wanted.
    Lock(LockWanted),
    /// The lock is yours.
    Granted,
    /// The lock is given back; say when it is.
    Unlock(u32),
    /// Say when all before this is done.
    Flush(u32),
    /// It is; something of it was outside of the memory that is there?
    Done(u32, bool),
    /// You may access this rank's part.
    Post,
    /// This rank has done so.
    Complete,
}

struct Writer(Vec<u8>);

impl Writer {
    fn number(&mut self, number: impl Into<i64>) -> &mut Self {
        self.0.extend(number.into().to_le_bytes());
        self
    }

    fn place(&mut self, place: &Place) -> &mut Self {
        if let Some((0, len)) = place.flat.contiguous(place.count as i64) {
            // Nearly all are, and need no description.
            return self.number(place.displacement).number(len).number(0);
        }
        let numbers: Vec<_> = place.flat.numbers().collect();
        self.number(place.displacement).number(place.count as i64).number(numbers.len() as i64);
        numbers.into_iter().for_each(|number| {
            self.number(number);
        });
        self
    }

    fn how(&mut self, how: How) -> &mut Self {
        self.number(how.operator).number(how.basic)
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend(bytes);
    }
}

struct Reader<'b>(&'b [u8]);

impl Reader<'_> {
    fn number(&mut self) -> Option<i64> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(i64::from_le_bytes(*number))
    }

    fn ticket(&mut self) -> Option<u32> {
        self.number()?.try_into().ok()
    }

    fn place(&mut self) -> Option<Place> {
        let (displacement, count, len) = (self.number()?, self.number()?, self.number()?);
        if len == 0 {
            return Some(Place { displacement, count: 1, flat: Flat::of_bytes(count) });
        }
        let count = count as usize;
        let numbers = (0..len).map(|_| self.number()).collect::<Option<Vec<_>>>()?;
        Some(Place { displacement, count, flat: Flat::from_numbers(&numbers)? })
    }

    fn how(&mut self) -> Option<How> {
        Some(How { operator: self.number()? as u16, basic: self.number()? as u16 })
    }

    fn rest(&self) -> Vec<u8> {
        self.0.to_vec()
    }
}

impl Word {
    /// Where it looks at something or stores something, if it does.
    pub(super) fn reaches(&self) -> Option<&Place> {
        match self {
            Self::Put(place, _)
            | Self::Get(_, place)
            | Self::Accumulate(_, place, _)
            | Self::Fetch(_, _, place, _)
            | Self::Swap(_, place, _) => Some(place),
            _ => None,
        }
    }

    /// The bytes that go to the other.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut writer = Writer(Vec::new());
        match self {
            Self::Put(place, bytes) => writer.number(0).place(place).bytes(bytes),
            Self::Get(ticket, place) => {
                writer.number(1).number(*ticket).place(place);
            }
            Self::Accumulate(how, place, bytes) => writer.number(2).how(*how).place(place).bytes(bytes),
            Self::Fetch(ticket, how, place, bytes) => {
                writer.number(3).number(*ticket).how(*how).place(place).bytes(bytes);
            }
            Self::Swap(ticket, place, bytes) => writer.number(4).number(*ticket).place(place).bytes(bytes),
            Self::Reply(ticket, bytes) => writer.number(5).number(*ticket).bytes(bytes),
            Self::Lock(LockWanted { is_exclusive, joins }) => {
                writer.number(6).number(i64::from(*is_exclusive) | i64::from(*joins) << 1);
            }
            Self::Granted => {
                writer.number(7);
            }
            Self::Unlock(ticket) => {
                writer.number(8).number(*ticket);
            }
            Self::Flush(ticket) => {
                writer.number(9).number(*ticket);
            }
            Self::Done(ticket, failed) => {
                writer.number(10).number(*ticket).number(i64::from(*failed));
            }
            Self::Post => {
                writer.number(11);
            }
            Self::Complete => {
                writer.number(12);
            }
        }
        writer.0
    }

    /// What these bytes say.
    pub(super) fn of(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader(bytes);
        Some(match reader.number()? {
            0 => Self::Put(reader.place()?, reader.rest()),
            1 => Self::Get(reader.ticket()?, reader.place()?),
            2 => Self::Accumulate(reader.how()?, reader.place()?, reader.rest()),
            3 => Self::Fetch(reader.ticket()?, reader.how()?, reader.place()?, reader.rest()),
            4 => Self::Swap(reader.ticket()?, reader.place()?, reader.rest()),
            5 => Self::Reply(reader.ticket()?, reader.rest()),
            6 => {
                let how = reader.number()?;
                Self::Lock(LockWanted { is_exclusive: how & 1 != 0, joins: how & 2 != 0 })
            }
            7 => Self::Granted,
            8 => Self::Unlock(reader.ticket()?),
            9 => Self::Flush(reader.ticket()?),
            10 => Self::Done(reader.ticket()?, reader.number()? != 0),
            11 => Self::Post,
            12 => Self::Complete,
            _ => return None,
        })
    }
}
