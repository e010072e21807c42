//! The machines and boards that have names, and files that are wrong.

mod boards;
mod machines;

use descriptions::{Described, KINDS, Subject, boards::Kind, machines::Simulated};

fn parse<Of: Subject>(text: &str) -> Result<Described<Of>, String> {
    Described::parse("my.toml", text).map_err(|error| error.to_string())
}

#[test]
fn every_parameter_of_what_has_a_name_has_a_source() {
    have_sources::<Simulated>();
    have_sources::<Kind>();
}

fn have_sources<Of: Subject>() {
    for name in Described::<Of>::names() {
        let described = Described::<Of>::find(name).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((described.name.as_str(), described.about.lines().count()), (name, 1));
        for parameter in described.values.parameters() {
            let source = &parameter.source;
            let is_sound = KINDS.contains(&source.kind.as_str()) && !source.text.is_empty();
            assert!(is_sound, "{name}: {}: {source:?}", parameter.key.name);
        }
    }
    assert!(Described::<Of>::built_in("SCC").is_none());
}

/// Nothing can be described by any of these texts, and why not is said in a line with its key.
fn are_wrong<Of: Subject>(texts: &[(impl AsRef<str>, &str)]) {
    for (text, key) in texts {
        let text = text.as_ref();
        let error = parse::<Of>(text).err().unwrap_or_else(|| panic!("{text} describes a {}", Of::NAME));
        assert!(error.starts_with("my.toml: ") && error.contains(key) && !error.contains('\n'), "{text}: {error}");
    }
}
