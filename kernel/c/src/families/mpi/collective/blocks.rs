//! Elements of a program, or of an operation's own, and where they are.

use alloc::{borrow::Cow, format, rc::Rc, vec, vec::Vec};
use core::slice;

use kernel::collectives::{Envelope, collective::nonblocking::schedules::Operands};

use super::super::{
    class::{Class, Fault},
    datatypes::Datatype,
    operators::Operator,
};

/// Elements of the program's.
#[derive(Clone)]
pub(crate) struct Block {
    pub(crate) address: *mut u8,
    pub(crate) count: usize,
    pub(crate) datatype: Rc<Datatype>,
}

impl Block {
    pub(crate) fn len_bytes(&self) -> usize {
        self.count * self.datatype.size()
    }

    /// The same number of elements, so many extents further on.
    pub(crate) fn at(&self, extents: isize, count: usize) -> Self {
        let address = self.address.wrapping_offset(extents * self.datatype.extent());
        Self { address, count, datatype: self.datatype.clone() }
    }

    /// The elements as a message.
    ///
    /// # Safety
    /// They are there, and nobody writes to them as long as this is used.
    pub(crate) unsafe fn bytes<'b>(&self) -> Cow<'b, [u8]> {
        let len = self.len_bytes();
        if len == 0 {
            return Cow::Borrowed(&[]);
        }
        // SAFETY: the caller says so.
        unsafe {
            if self.datatype.is_contiguous() {
                return Cow::Borrowed(slice::from_raw_parts(self.address, len));
            }
            let mut bytes = vec![0; len];
            self.datatype.pack(self.address, self.count, &mut bytes);
            Cow::Owned(bytes)
        }
    }

    /// Refuses a message, once it is here, that ends within a basic value, as 3 bytes do where ints are received: its sender means
    /// another type.
    pub(crate) fn whole(&self, envelope: Envelope) -> Result<Envelope, Fault> {
        let (len, datatype) = (envelope.len_bytes, &self.datatype);
        // The last one is slow, and needed where an element has several values.
        if len == self.len_bytes() || len.is_multiple_of(datatype.size()) || datatype.elements_in(len as i64).1 {
            return Ok(envelope);
        }
        let why = format!("{len} bytes have come, which end within a value");
        Err(Fault { envelope: Some(envelope), ..Fault::new(Class::TYPE, why) })
    }

    /// Sets the elements to those of a message, or the first of them.
    ///
    /// # Safety
    /// There is room for them, and nobody else reads or writes there.
    pub(crate) unsafe fn set(&self, bytes: &[u8]) {
        if !bytes.is_empty() {
            // SAFETY: the caller says so.
            unsafe { self.datatype.unpack(bytes, self.address, self.count) };
        }
    }
}

/// Elements of an operation's own, in memory like a program's: operators of programs want them so.
pub(crate) struct Elements {
    memory: Vec<u64>,
    /// From the memory's start to where the first element is addressed.
    offset: isize,
    count: usize,
    datatype: Rc<Datatype>,
}

impl Elements {
    /// Room for elements, all of them zero.
    pub(crate) fn new(count: usize, datatype: Rc<Datatype>) -> Self {
        let extent = datatype.extent();
        let steps = count.saturating_sub(1) as isize * extent;
        // The first and the last one, or the other way round.
        let first = datatype.true_lower_bound() + steps.min(0);
        let bytes = datatype.true_extent() + steps.unsigned_abs();
        // An address as far from a multiple of 8 as the first element of a program that begins at one.
        let padding = first.rem_euclid(8);
        let memory = vec![0; (bytes + padding as usize).div_ceil(8)];
        Self { memory, offset: padding - first, count, datatype }
    }

    /// A copy of a program's.
    ///
    /// # Safety
    /// As for [`Block::bytes`].
    pub(crate) unsafe fn of(block: &Block) -> Self {
        let mut elements = Self::new(block.count, block.datatype.clone());
        // SAFETY: the caller says so.
        elements.set(&unsafe { block.bytes() });
        elements
    }

    fn block(&self) -> Block {
        let start = self.memory.as_ptr().cast_mut().cast::<u8>();
        Block { address: start.wrapping_offset(self.offset), count: self.count, datatype: self.datatype.clone() }
    }

    pub(crate) fn len_bytes(&self) -> usize {
        self.count * self.datatype.size()
    }

    /// Sets the elements to those of a message.
    fn set(&mut self, bytes: &[u8]) {
        let start = self.memory.as_mut_ptr().cast::<u8>().wrapping_offset(self.offset);
        if !bytes.is_empty() {
            // SAFETY: the memory has all elements, and is borrowed mutably.
            unsafe { self.datatype.unpack(bytes, start, self.count) };
        }
    }

    /// Sets each element to that of an earlier rank and itself, combined. Where the earlier rank has none, there are none afterwards.
    pub(crate) fn combine_with_earlier(&mut self, earlier: &Self, operator: &Operator) {
        self.count = self.count.min(earlier.count);
        if self.len_bytes() > 0 {
            let own = self.memory.as_mut_ptr().cast::<u8>().wrapping_offset(self.offset);
            // SAFETY: both have as many elements of the same datatype, and this one is borrowed mutably.
            unsafe { operator.combine(earlier.block().address, own, self.count, &self.datatype) };
        }
    }

    /// Copies the elements to a program's.
    ///
    /// # Safety
    /// As for [`Block::set`].
    pub(crate) unsafe fn copy_to(&self, block: &Block) {
        // SAFETY: the caller says so.
        unsafe { block.set(&self.bytes()) };
    }
}

impl Operands for Elements {
    fn bytes(&self) -> Cow<'_, [u8]> {
        // SAFETY: the memory has all elements, and is borrowed as long as this is used.
        unsafe { self.block().bytes() }
    }

    /// A message of another length gives no elements: what is made of it then has the wrong length, which its receivers notice.
    fn like(&self, message: &[u8]) -> Self {
        let count = if message.len() == self.len_bytes() { self.count } else { 0 };
        let mut elements = Self::new(count, self.datatype.clone());
        if count > 0 {
            elements.set(message);
        }
        elements
    }
}
