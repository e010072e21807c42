//! Classes of errors, and what a function says when it fails.

use alloc::{borrow::Cow, format};

use kernel::collectives::{Envelope, Error, ErrorKind};

use super::handles::Handle;

/// A class of errors, as `MPI_ERR_*`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Class(pub(crate) i32);

macro_rules! classes {
    ($($(#[$doc:meta])* $constant:ident = $number:literal, $text:literal;)*) => {
        impl Class {
            $(
                $(#[$doc])*
                #[allow(dead_code, reason = "all classes have a text, and not all of them happen")]
                pub(crate) const $constant: Self = Self($number);
            )*

            /// Names and texts, by their numbers.
            const ALL: &'static [(i32, &'static str, &'static str)] =
                &[$(($number, concat!("MPI_ERR_", stringify!($constant)), $text)),*];
        }
    };
}

classes! {
    BUFFER = 1, "the buffer is none, or has no room";
    COUNT = 2, "the count makes no sense";
    TYPE = 3, "the datatype is none, or was freed, or is not committed, or is not that of the message";
    TAG = 4, "the tag is out of range";
    COMM = 5, "the communicator is none, or was freed";
    RANK = 6, "the rank does not exist";
    REQUEST = 7, "the request is none, or does not allow this";
    ROOT = 8, "the root does not exist";
    GROUP = 9, "the group is none, or was freed";
    OP = 10, "the operator is none, or is not defined for the datatype";
    TOPOLOGY = 11, "the communicator has no such topology";
    DIMS = 12, "the dimensions make no sense";
    ARG = 13, "an argument makes no sense";
    UNKNOWN = 14, "an error of no known class";
    TRUNCATE = 15, "the message is longer than its receive has room for";
    OTHER = 16, "an error of no other class";
    INTERN = 17, "the library is at fault";
    PENDING = 18, "the operation is not complete";
    IN_STATUS = 19, "the error is in the status";
    ACCESS = 20, "access is not permitted";
    AMODE = 21, "the mode of access makes no sense";
    ASSERT = 22, "the assertion makes no sense";
    BAD_FILE = 23, "the name of the file makes no sense";
    BASE = 24, "the base of the memory makes no sense";
    CONVERSION = 25, "data cannot be converted";
    DISP = 26, "the displacement makes no sense";
    DUP_DATAREP = 27, "the data representation exists";
    FILE_EXISTS = 28, "the file exists";
    FILE_IN_USE = 29, "the file is in use";
    FILE = 30, "the file is none";
    INFO_KEY = 31, "the key is too long, or empty";
    INFO_NOKEY = 32, "there is no such key";
    INFO_VALUE = 33, "the value is too long";
    INFO = 34, "the info is none, or was freed";
    IO = 35, "input or output has failed";
    KEYVAL = 36, "the key of attributes is none, or was freed";
    LOCKTYPE = 37, "the kind of the lock makes no sense";
    NAME = 38, "there is no such service";
    NO_MEM = 39, "there is no memory left";
    NOT_SAME = 40, "arguments differ between ranks";
    NO_SPACE = 41, "there is no space left";
    NO_SUCH_FILE = 42, "there is no such file";
    PORT = 43, "the port makes no sense";
    QUOTA = 44, "the quota is exceeded";
    READ_ONLY = 45, "the file can only be read";
    RMA_ATTACH = 46, "the memory cannot be attached";
    RMA_CONFLICT = 47, "accesses to the window conflict";
    RMA_RANGE = 48, "the target is not within the window";
    RMA_SHARED = 49, "the memory cannot be shared";
    RMA_SYNC = 50, "the synchronisation of the window is out of order";
    SERVICE = 51, "the service cannot be published";
    SIZE = 52, "the size makes no sense";
    SPAWN = 53, "processes cannot be started";
    UNSUPPORTED_DATAREP = 54, "the data representation is not supported";
    UNSUPPORTED_OPERATION = 55, "the operation is not supported";
    WIN = 56, "the window is none, or was freed";
    RMA_FLAVOR = 57, "the window is of another flavour";
    PROC_ABORTED = 58, "a process has aborted";
    VALUE_TOO_LARGE = 59, "the value does not fit its type";
    SESSION = 60, "the session is none";
    ERRHANDLER = 61, "the error handler is none, or was freed";
    ABI = 62, "the binary interface differs";
}

impl Class {
    /// The largest class that is always there.
    pub(crate) const LAST: i32 = 0x3FFF;

    /// What is to be said of an error of this class.
    pub(crate) fn text(self) -> Option<Cow<'static, str>> {
        if self.0 == 0 {
            return Some("MPI_SUCCESS: no error".into());
        }
        let (_, name, text) = Self::ALL.iter().find(|(number, ..)| *number == self.0)?;
        Some(format!("{name}: {text}").into())
    }
}

/// Whose error handler hears of an error.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum On {
    /// That of what belongs to no communicator, window or file: `MPI_COMM_SELF`'s.
    Nothing,
    /// This communicator's.
    Comm(Handle),
    /// This window's.
    Window(Handle),
    /// This session's.
    Session(Handle),
    /// That of `MPI_FILE_NULL`.
    File,
    /// This one, of a communicator that is not made yet, or was freed.
    Handler(Handle),
}

/// Why a function fails.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Fault {
    pub(crate) class: Class,
    /// More than the class says, or nothing.
    pub(crate) why: Cow<'static, str>,
    pub(crate) on: On,
    /// The function of C, if several call the same one here.
    pub(crate) function: Option<Cow<'static, str>>,
    /// Of a message that has come all the same: what its status says.
    pub(crate) envelope: Option<Envelope>,
}

impl Fault {
    /// An error, and what is wrong.
    pub(crate) fn new(class: Class, why: impl Into<Cow<'static, str>>) -> Self {
        Self { class, why: why.into(), on: On::Nothing, function: None, envelope: None }
    }

    /// The same in a function that C names.
    pub(crate) fn of_function(self, name: &str) -> Self {
        Self { function: Some(Cow::Owned(name.into())), ..self }
    }

    /// The same as an error of this window's, if it is nobody's yet.
    pub(crate) fn on_window(self, window: Handle) -> Self {
        if self.on == On::Nothing { Self { on: On::Window(window), ..self } } else { self }
    }

    /// The same as an error of a communicator that was to have this handler, or had it, if it is nobody's yet.
    pub(crate) fn on_handler(self, handler: Handle) -> Self {
        if self.on == On::Nothing { Self { on: On::Handler(handler), ..self } } else { self }
    }

    /// The same as an error of files.
    pub(crate) fn on_file(self) -> Self {
        Self { on: On::File, ..self }
    }

    /// The same as an error of this session's.
    pub(crate) fn on_session(self, session: Handle) -> Self {
        Self { on: On::Session(session), ..self }
    }

    /// The same as an error of this communicator's, if it is nobody's yet.
    pub(crate) fn on_comm(self, comm: Handle) -> Self {
        if self.on == On::Nothing { Self { on: On::Comm(comm), ..self } } else { self }
    }
}

impl From<Class> for Fault {
    fn from(class: Class) -> Self {
        Self::new(class, "")
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        if let Error::Truncated { from, tag, sent, room } = error {
            // The tag is one of messages of all communicators.
            let why = format!("rank {from} of all ranks has sent {sent} bytes, and there is room for {room}");
            let envelope = Some(Envelope { source: from, tag, len_bytes: sent });
            return Self { envelope, ..Self::new(Class::TRUNCATE, why) };
        }
        let class = match (&error, error.kind()) {
            (Error::NoSuchRank { .. }, _) => Class::RANK,
            (Error::OutOfSharedMemory { .. }, _) | (_, ErrorKind::Resources) => Class::NO_MEM,
            _ => Class::OTHER,
        };
        Self::new(class, format!("{error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_have_texts() {
        assert_eq!(Class::ALL.iter().map(|(number, ..)| *number).collect::<Vec<_>>(), (1..=62).collect::<Vec<_>>());
        assert_eq!(Class::RANK.text().unwrap(), "MPI_ERR_RANK: the rank does not exist");
        assert_eq!((Class(0).text().unwrap().as_ref(), Class(63).text()), ("MPI_SUCCESS: no error", None));
    }

    #[test]
    fn the_first_communicator_hears_of_it() {
        let fault = Fault::from(Class::TAG).on_comm(0x101).on_comm(0x102);
        assert_eq!((fault.class, fault.on), (Class::TAG, On::Comm(0x101)));
    }
}
