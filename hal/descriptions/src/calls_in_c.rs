//! What calls of our library take that programs in C make, on a core of the SCC: a table that is measured, never written by hand.
//!
//! `cargo xtask bench c-calls` measures it on the emulated board, compares it with `calls-in-c.toml`, and writes what that file
//! should be.

use std::collections::BTreeMap;

use crate::Error;

/// What a call takes beside the operations of the machine in it, and beside protocols that have prices of their own.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CallPrice {
    /// Cycles of each call.
    pub each: u64,
    /// Cycles that the first call of a core takes longer, whose code no cache has.
    pub first: u64,
}

/// What calls take, by the names that tables of functions have for them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CallPrices(BTreeMap<String, CallPrice>);

impl CallPrices {
    /// The measured table.
    ///
    /// # Panics
    /// If it is wrong, which tests rule out.
    pub fn measured() -> Self {
        Self::parse(include_str!("../calls-in-c.toml")).expect("the table is one")
    }

    /// The table in a text.
    ///
    /// # Errors
    /// One line that says what is wrong in it.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let wrong = |why: &str| Error(format!("calls-in-c.toml: {why}; `cargo xtask bench c-calls` writes it anew"));
        let table: toml::Table = text.parse().map_err(|_| wrong("it is no TOML"))?;
        let price = |(name, price): (&String, &toml::Value)| {
            let number = |key| price.get(key)?.as_integer().and_then(|number| u64::try_from(number).ok());
            match [number("each"), number("first")] {
                [Some(each), Some(first)] => Ok((name.clone(), CallPrice { each, first })),
                _ => Err(wrong(&format!("`{name}` has no `each` or `first`"))),
            }
        };
        table.iter().map(price).collect::<Result<_, _>>().map(Self)
    }

    /// What a call takes, if it has a price.
    pub fn of(&self, name: &str) -> CallPrice {
        self.0.get(name).copied().unwrap_or_default()
    }

    /// All that have a price.
    pub fn all(&self) -> impl Iterator<Item = (&str, CallPrice)> {
        self.0.iter().map(|(name, price)| (name.as_str(), *price))
    }

    /// The text of the table.
    pub fn text(&self) -> String {
        let mut text = String::from(
            "# Written by `cargo xtask bench c-calls`: cycles that a core of the SCC spends in calls of our library from C, in those of the\n\
             # emulated board: each call, and how much longer the first one takes.\n",
        );
        for (name, CallPrice { each, first }) in self.all() {
            text += &format!("{name} = {{ each = {each}, first = {first} }}\n");
        }
        text
    }
}

impl FromIterator<(String, CallPrice)> for CallPrices {
    fn from_iter<I: IntoIterator<Item = (String, CallPrice)>>(prices: I) -> Self {
        Self(prices.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_what_it_writes() {
        let measured = CallPrices::measured();
        assert_eq!(measured.text(), include_str!("../calls-in-c.toml"));
        assert!(measured.of("put").each > 0 && measured.of("put").first > 0);
        assert_eq!(measured.of("nothing"), CallPrice::default());
    }

    #[test]
    fn what_is_missing_is_named() {
        let error = CallPrices::parse("put = { each = 3 }").unwrap_err().to_string();
        assert!(error.contains("`put` has no"), "{error}");
        assert!(CallPrices::parse("x").is_err());
    }
}
