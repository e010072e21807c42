//! Names of algorithms and of other choices on command lines and in measurements.

use core::fmt;

/// No value of the kind has the name that was given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnknownName {
    /// The kind of value, as in "no such barrier".
    pub kind: &'static str,
    /// The names that there are.
    pub known: &'static [&'static str],
}

impl fmt::Display for UnknownName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "no such {}; there are ", self.kind)?;
        for (index, name) in self.known.iter().enumerate() {
            let separator = match index {
                0 => "",
                last if last + 1 == self.known.len() => " and ",
                _ => ", ",
            };
            write!(out, "{separator}{name}")?;
        }
        Ok(())
    }
}

impl core::error::Error for UnknownName {}

/// Gives the variants of an enum names: `"kind": pub Enum { Variant => "name", … }` makes it `Display` and `FromStr`, with
/// [`UnknownName`] as its error, and adds `ALL` and `name`, as visible as the line says. The enum is `Copy` and has a variant at least.
#[macro_export]
macro_rules! names {
    ($kind:literal: $visible:vis $named:ident { $($variant:ident => $name:literal),+ $(,)? }) => {
        impl $named {
            /// All of them.
            $visible const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// What it is called on command lines and in measurements.
            $visible const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }

        impl ::core::fmt::Display for $named {
            fn fmt(&self, out: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                out.write_str(self.name())
            }
        }

        impl ::core::str::FromStr for $named {
            type Err = $crate::UnknownName;

            fn from_str(name: &str) -> ::core::result::Result<Self, Self::Err> {
                let unknown = $crate::UnknownName { kind: $kind, known: &[$($name),+] };
                Self::ALL.into_iter().find(|known| known.name() == name).ok_or(unknown)
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use std::string::ToString;

    #[derive(Clone, Copy, PartialEq, Debug)]
    enum Colour {
        Red,
        Green,
        Blue,
    }

    names! { "colour": Colour { Red => "red", Green => "green", Blue => "blue" } }

    #[test]
    fn values_have_names_and_errors_list_them() {
        for colour in Colour::ALL {
            assert_eq!((colour.to_string().as_str(), colour.name().parse()), (colour.name(), Ok(colour)));
        }
        for unknown in ["", "Red", "red "] {
            let error = unknown.parse::<Colour>().unwrap_err();
            assert_eq!(error.to_string(), "no such colour; there are red, green and blue", "{unknown}");
        }
    }
}
