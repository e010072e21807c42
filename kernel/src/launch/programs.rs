//! The programs of an image.

use core::{fmt, marker::PhantomData};

use hal::Core;

use crate::{
    Failure, Program, Rank,
    args::{KnownOption, List},
};

/// What is known of a program without running it.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// See [`Program::NAME`].
    pub name: &'static str,
    /// See [`Program::ABOUT`].
    pub about: &'static str,
    /// See [`Program::OPTIONS`].
    pub options: &'static [KnownOption],
}

impl About {
    /// What is known of `P`.
    pub const fn of<P: Program>() -> Self {
        Self { name: P::NAME, about: P::ABOUT, options: P::OPTIONS }
    }
}

impl fmt::Display for About {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}; {}", self.name, self.about, List(self.options))
    }
}

/// The programs of an image; [`image!`](crate::image) makes one.
pub trait Programs {
    /// What there is; the first one runs if none is named.
    const LIST: &'static [About];

    /// The binary that they are in, where it has a name.
    const BINARY: Option<&'static str>;

    /// Runs the program called `name`, which is in the list.
    ///
    /// # Errors
    /// The program's own.
    fn run<C: Core>(name: &str, rank: &mut Rank<'_, C>) -> Result<(), Failure>;
}

/// An image of one program, for tests.
pub struct Only<P>(PhantomData<P>);

impl<P: Program> Programs for Only<P> {
    const LIST: &'static [About] = &[About::of::<P>()];
    const BINARY: Option<&'static str> = None;

    fn run<C: Core>(_name: &str, rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        P::run(rank)
    }
}

/// The names of programs, in words.
pub(super) struct Names(pub(super) &'static [About]);

impl fmt::Display for Names {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, program) in self.0.iter().enumerate() {
            write!(out, "{}{}", if index == 0 { "" } else { ", " }, program.name)?;
        }
        Ok(())
    }
}

/// Makes the entry of an image of these programs: what the boot calls on bare metal, `main` on the host. The first
/// one is what runs if none is named.
#[macro_export]
macro_rules! image {
    ($($program:ty),+ $(,)?) => {
        /// The programs of this image.
        enum Image {}

        impl $crate::launch::Programs for Image {
            const LIST: &'static [$crate::launch::About] = &[$($crate::launch::About::of::<$program>()),+];
            const BINARY: ::core::option::Option<&'static str> = ::core::option_env!("CARGO_BIN_NAME");

            fn run<C: $crate::hal::Core>(
                name: &str,
                rank: &mut $crate::Rank<'_, C>,
            ) -> ::core::result::Result<(), $crate::Failure> {
                $(
                    if name == <$program as $crate::Program>::NAME {
                        return <$program as $crate::Program>::run(rank);
                    }
                )+
                ::core::unreachable!("the name was taken from the list")
            }
        }

        // SAFETY: the one definition of the symbol, with the signature that the boot declares.
        #[cfg(target_os = "none")]
        #[unsafe(no_mangle)]
        extern "Rust" fn atoll_core_main(_core: usize) -> ! {
            $crate::launch::core_main::<Image>()
        }

        #[cfg(not(target_os = "none"))]
        fn main() -> $crate::launch::ExitCode {
            $crate::launch::main::<Image>()
        }
    };
}
