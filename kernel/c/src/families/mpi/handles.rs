//! Handles: what C has of an object. Those that are always there have the numbers of the ABI; others are larger than these,
//! and say what kind of object they are of.

use alloc::vec::Vec;

/// A handle, as C has it: a pointer that nobody follows.
pub(crate) type Handle = usize;

/// Kinds of objects, by which their handles begin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(usize)]
pub(crate) enum Kind {
    Comm = 1,
    Group,
    Request,
    Message,
    Info,
    Errhandler,
    Datatype,
    Operator,
    Window,
    Session,
}

/// Bits of a handle for the number of its object.
const NUMBER_BITS: u32 = 24;

/// Objects of a kind, by their handles. Handles of objects that were removed are given to others.
pub(crate) struct Slab<T> {
    kind: Kind,
    objects: Vec<Option<T>>,
    free: Vec<usize>,
}

impl<T> Slab<T> {
    pub(crate) fn new(kind: Kind) -> Self {
        Self { kind, objects: Vec::new(), free: Vec::new() }
    }

    /// Takes an object.
    ///
    /// # Panics
    /// If there are 16 million of them.
    pub(crate) fn insert(&mut self, object: T) -> Handle {
        let number = self.free.pop().unwrap_or_else(|| {
            self.objects.push(None);
            self.objects.len() - 1
        });
        assert!(number < 1 << NUMBER_BITS, "there are {number} objects of one kind; free some");
        self.objects[number] = Some(object);
        (self.kind as usize) << NUMBER_BITS | number
    }

    fn number(&self, handle: Handle) -> Option<usize> {
        (handle >> NUMBER_BITS == self.kind as usize).then_some(handle & ((1 << NUMBER_BITS) - 1))
    }

    pub(crate) fn get(&self, handle: Handle) -> Option<&T> {
        self.objects.get(self.number(handle)?)?.as_ref()
    }

    pub(crate) fn get_mut(&mut self, handle: Handle) -> Option<&mut T> {
        let number = self.number(handle)?;
        self.objects.get_mut(number)?.as_mut()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.objects.iter().flatten()
    }

    pub(crate) fn remove(&mut self, handle: Handle) -> Option<T> {
        let number = self.number(handle)?;
        let object = self.objects.get_mut(number)?.take()?;
        self.free.push(number);
        Some(object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_are_of_one_kind() {
        let (mut groups, mut infos) = (Slab::new(Kind::Group), Slab::new(Kind::Info));
        let [first, second] = ["a", "b"].map(|name| groups.insert(name));
        let info = infos.insert("c");
        assert!(first > 0xFFF && first != second && info != first);
        assert_eq!(
            [groups.get(first), groups.get(second), groups.get(info), groups.get(0x108)],
            [Some(&"a"), Some(&"b"), None, None]
        );
        assert_eq!((groups.remove(first), groups.remove(first)), (Some("a"), None));
        assert_eq!((groups.insert("d"), infos.remove(info)), (first, Some("c")));
        *groups.get_mut(second).unwrap() = "e";
        assert_eq!(groups.get(second), Some(&"e"));
    }
}
