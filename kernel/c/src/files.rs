//! Files of a program: inputs that it reads, and what it writes, which is in memory until the program ends.

use alloc::{borrow::Cow, collections::BTreeMap, string::String, vec::Vec};

/// Directory whose files go to the host at the end.
const RESULTS: &str = "out/";

/// The longest file: a program of 32 bits has addresses for no more.
const LONGEST: usize = i32::MAX as usize;

/// Descriptors below are the standard streams'.
const FIRST: usize = 3;

/// Why something is refused: newlib's numbers.
pub(crate) const NOT_FOUND: i32 = 2;
pub(crate) const NOT_OPEN: i32 = 9;
pub(crate) const EXISTS: i32 = 17;
pub(crate) const INVALID: i32 = 22;
pub(crate) const TOO_LARGE: i32 = 27;
pub(crate) const NO_SPACE: i32 = 28;

/// How a file is opened: the bits of `services.h`.
#[derive(Clone, Copy)]
pub(crate) struct Mode(pub(crate) u32);

impl Mode {
    const WRITE: u32 = 1;
    const CREATE: u32 = 2;
    const EMPTY: u32 = 4;
    const APPEND: u32 = 8;
    const NEW: u32 = 16;

    fn has(self, bit: u32) -> bool {
        self.0 & bit != 0
    }
}

/// The files of one rank.
#[derive(Default)]
pub(crate) struct Files<'i> {
    /// By path. What is borrowed is an input as it came.
    files: BTreeMap<String, Cow<'i, [u8]>>,
    open: Vec<Option<Open>>,
}

/// A file that is open.
struct Open {
    path: String,
    place: usize,
    mode: Mode,
}

impl<'i> Files<'i> {
    /// Inputs, each under its name without directories.
    pub(crate) fn new(inputs: impl Iterator<Item = (&'i str, &'i [u8])>) -> Self {
        let files = inputs.map(|(name, bytes)| (name.into(), Cow::Borrowed(bytes))).collect();
        Self { files, open: Vec::new() }
    }

    /// Opens a file. An input is found by its name, whatever the directory; returns the descriptor.
    pub(crate) fn open(&mut self, path: &str, mode: Mode) -> Result<usize, i32> {
        let path = self.find(path);
        let exists = self.files.contains_key(&path);
        match exists {
            true if mode.has(Mode::CREATE) && mode.has(Mode::NEW) => return Err(EXISTS),
            false if !mode.has(Mode::CREATE) => return Err(NOT_FOUND),
            _ => {}
        }
        if !exists || mode.has(Mode::WRITE) && mode.has(Mode::EMPTY) {
            self.files.insert(path.clone(), Cow::default());
        }
        let open = Some(Open { path, place: 0, mode });
        let index = self.open.iter().position(Option::is_none).unwrap_or(self.open.len());
        match self.open.get_mut(index) {
            Some(free) => *free = open,
            None => self.open.push(open),
        }
        Ok(index + FIRST)
    }

    /// The path of a file that exists: as it is, or that of the input with this name.
    fn find(&self, path: &str) -> String {
        // The directory that programs are in is the root of all.
        let path = path.trim_start_matches('/').trim_start_matches("./");
        let name = path.rsplit('/').next().unwrap_or(path);
        let is_input = || matches!(self.files.get(name), Some(Cow::Borrowed(_)));
        if !self.files.contains_key(path) && is_input() { name.into() } else { path.into() }
    }

    fn opened(&mut self, file: usize) -> Result<(&mut Open, &mut Cow<'i, [u8]>), i32> {
        let open = file.checked_sub(FIRST).and_then(|index| self.open.get_mut(index)?.as_mut()).ok_or(NOT_OPEN)?;
        // What is deleted while it is open is gone.
        let bytes = self.files.get_mut(&open.path).ok_or(NOT_FOUND)?;
        Ok((open, bytes))
    }

    /// Reads from where the file is at.
    pub(crate) fn read(&mut self, file: usize, into: &mut [u8]) -> Result<usize, i32> {
        let (open, bytes) = self.opened(file)?;
        let rest = bytes.get(open.place..).unwrap_or_default();
        let count = rest.len().min(into.len());
        into[..count].copy_from_slice(&rest[..count]);
        open.place += count;
        Ok(count)
    }

    /// Writes where the file is at, or at its end.
    pub(crate) fn write(&mut self, file: usize, from: &[u8]) -> Result<usize, i32> {
        let (open, bytes) = self.opened(file)?;
        if !open.mode.has(Mode::WRITE) {
            return Err(NOT_OPEN);
        }
        let place = if open.mode.has(Mode::APPEND) { bytes.len() } else { open.place };
        let end = place.checked_add(from.len()).filter(|end| *end <= LONGEST).ok_or(TOO_LARGE)?;
        if let Cow::Borrowed(given) = *bytes {
            let mut own = Vec::new();
            own.try_reserve_exact(end.max(given.len())).map_err(|_| NO_SPACE)?;
            own.extend_from_slice(given);
            *bytes = Cow::Owned(own);
        }
        let bytes = bytes.to_mut();
        if bytes.len() < end {
            let more = end - bytes.len();
            // Room to grow, or else as much as is needed.
            bytes.try_reserve(more).or_else(|_| bytes.try_reserve_exact(more)).map_err(|_| NO_SPACE)?;
            bytes.resize(end, 0);
        }
        bytes[place..end].copy_from_slice(from);
        open.place = end;
        Ok(from.len())
    }

    /// Goes to a place of the file, `from` its start (0), where it is at (1), or its end (2); returns the place.
    pub(crate) fn seek(&mut self, file: usize, offset: i64, from: i32) -> Result<i64, i32> {
        let (open, bytes) = self.opened(file)?;
        let base = match from {
            0 => 0,
            1 => open.place,
            2 => bytes.len(),
            _ => return Err(INVALID),
        };
        let place = i64::try_from(base).ok().and_then(|base| base.checked_add(offset)).ok_or(INVALID)?;
        open.place = usize::try_from(place).map_err(|_| INVALID)?;
        Ok(place)
    }

    /// Closes a file.
    pub(crate) fn close(&mut self, file: usize) -> Result<(), i32> {
        let open = file.checked_sub(FIRST).and_then(|index| self.open.get_mut(index)).ok_or(NOT_OPEN)?;
        open.take().map(drop).ok_or(NOT_OPEN)
    }

    /// Deletes a file.
    pub(crate) fn delete(&mut self, path: &str) -> Result<(), i32> {
        let path = self.find(path);
        self.files.remove(&path).map(drop).ok_or(NOT_FOUND)
    }

    /// What goes to the host: names below [`RESULTS`], and bytes.
    pub(crate) fn results(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.files.iter().filter_map(|(path, bytes)| Some((path.strip_prefix(RESULTS)?, &**bytes)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const READ: Mode = Mode(0);
    const WRITE: Mode = Mode(Mode::WRITE | Mode::CREATE | Mode::EMPTY);

    #[test]
    fn inputs_are_found_by_name_and_read() {
        let mut files = Files::new([("a.txt", &b"abcdef"[..])].into_iter());
        assert_eq!(files.open("b.txt", READ), Err(NOT_FOUND));
        let file = files.open("/data/a.txt", READ).unwrap();
        let mut four = [0; 4];
        assert_eq!((files.read(file, &mut four), four), (Ok(4), *b"abcd"));
        assert_eq!((files.read(file, &mut four), &four[..2]), (Ok(2), &b"ef"[..]));
        assert_eq!(files.read(file, &mut four), Ok(0));
        assert_eq!((files.seek(file, -5, 2), files.read(file, &mut four), four), (Ok(1), Ok(4), *b"bcde"));
        assert_eq!(files.seek(file, -1, 0), Err(INVALID));
        assert_eq!(files.write(file, b"x"), Err(NOT_OPEN));
        assert_eq!(
            (files.close(file), files.close(file), files.read(file, &mut four)),
            (Ok(()), Err(NOT_OPEN), Err(NOT_OPEN))
        );
        assert_eq!(files.results().count(), 0);
    }

    #[test]
    fn what_is_written_is_there_and_comes_back() {
        let mut files = Files::default();
        let file = files.open("./out/x", WRITE).unwrap();
        assert_eq!(files.write(file, b"abc"), Ok(3));
        assert_eq!((files.seek(file, 5, 0), files.write(file, b"d")), (Ok(5), Ok(1)));
        let other = files.open("scratch", WRITE).unwrap();
        assert_ne!(other, file);
        files.close(file).unwrap();
        let more = files.open("out/x", Mode(Mode::WRITE | Mode::APPEND)).unwrap();
        assert_eq!((more, files.write(more, b"e")), (file, Ok(1)));
        assert_eq!(files.results().collect::<Vec<_>>(), [("x", &b"abc\0\0de"[..])]);
        assert_eq!(files.open("out/x", Mode(Mode::WRITE | Mode::CREATE | Mode::NEW)), Err(EXISTS));
        assert_eq!((files.delete("out/x"), files.delete("out/x")), (Ok(()), Err(NOT_FOUND)));
        assert_eq!(files.write(more, b"e"), Err(NOT_FOUND));
    }

    #[test]
    fn files_that_no_memory_can_hold_are_refused() {
        let mut files = Files::default();
        let file = files.open("x", WRITE).unwrap();
        for place in [1 << 31, 1 << 40, i64::MAX] {
            assert_eq!((files.seek(file, place, 0), files.write(file, b"abc")), (Ok(place), Err(TOO_LARGE)));
        }
        assert_eq!((files.seek(file, 0, 0), files.write(file, b"abc")), (Ok(0), Ok(3)));
    }
}
