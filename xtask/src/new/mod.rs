//! Makes a crate for a program of the user's own.

use crate::workspace;
use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// Make a crate for a program of your own, with a test, and comments on what to change
///
/// The program runs at once: `cargo xtask sim DIRECTORY` and `cargo xtask run DIRECTORY`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The crate's directory, which must not exist yet. Its last part is the crate's name: letters, digits, `-` and `_`
    #[arg(value_name = "DIRECTORY")]
    directory: PathBuf,
}

/// The program, and the crate around it: `<name>`, `<directory>` and `<kernel>` stand for what differs.
const PROGRAM: &str = include_str!("template.rs");
const MANIFEST: &str = include_str!("template.toml");

/// Names that mean something else to Rust or to cargo, which has directories of such names in `target`.
const TAKEN: &str = "abstract alloc as async await become box break build const continue core crate deps do dyn else \
    enum examples extern false final fn for gen if impl in incremental let loop macro match mod move override priv pub \
    ref return self static std struct super test trait true try type typeof unsafe unsized use virtual where while \
    yield";

/// Carries out `cargo xtask new`.
///
/// # Errors
/// When the name is none, the directory exists, or a file cannot be written.
pub(crate) fn main(arguments: &Arguments) -> Result<()> {
    let directory = &arguments.directory;
    make(directory)?;
    let shown = directory.display();
    println!("made {shown}: a program, a test, and comments on what to change in {shown}/src/main.rs");
    println!("  cargo xtask sim {shown} --cores 8    # in virtual time");
    println!("  cargo xtask run {shown} --cores 8    # under QEMU");
    println!("  cargo test --manifest-path {shown}/Cargo.toml");
    Ok(())
}

/// Makes the crate.
fn make(directory: &Path) -> Result<()> {
    let name = directory.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let root = workspace::root();
    // The versions that Atoll is tested with. Cargo takes what it needs of them.
    let versions = fs::read_to_string(root.join("Cargo.lock")).context("cannot read Atoll's Cargo.lock")?;
    check(name, &packages(&versions))
        .with_context(|| format!("{} cannot be the directory of a crate", directory.display()))?;
    let kernel = root.join("kernel").canonicalize().context("Atoll's own crates are not where they were")?;
    let kernel = kernel.to_str().context("the path to Atoll is no text that a Cargo.toml could hold")?;

    if let Some(parent) = directory.parent() {
        fs::create_dir_all(parent).with_context(|| format!("cannot create {}", parent.display()))?;
    }
    match fs::create_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            bail!("{} exists already, and nothing is overwritten; name another one", directory.display())
        }
        created => created.with_context(|| format!("cannot create {}", directory.display()))?,
    }
    let shown = directory.canonicalize().unwrap_or_else(|_| directory.into()).display().to_string();
    let write = |file: &str, text: &str| {
        let path = directory.join(file);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    };
    // A string of TOML escapes what one of Rust does.
    let [quoted_name, quoted_kernel] = [name, kernel].map(|text| format!("{text:?}"));
    let values = [("\"<name>\"", &*quoted_name), ("\"<kernel>\"", &quoted_kernel), ("<directory>", &shown)];
    write("Cargo.toml", &filled(MANIFEST, &values))?;
    write(".gitignore", "/target\n")?;
    fs::create_dir(directory.join("src")).with_context(|| format!("cannot create {shown}/src"))?;
    write("src/main.rs", &filled(PROGRAM, &values))?;
    write("Cargo.lock", &versions)
}

/// A text with a value for each of these marks, in one pass: values may look like marks.
fn filled(template: &str, values: &[(&str, &str)]) -> String {
    let (mut text, mut rest) = (String::new(), template);
    let next = |rest: &str| values.iter().filter_map(|value| Some((rest.find(value.0)?, value))).min();
    while let Some((at, (mark, value))) = next(rest) {
        text += &rest[..at];
        text += value;
        rest = &rest[at + mark.len()..];
    }
    text + rest
}

/// The packages of a lock file: of two with one name cargo would not know which one is to be built.
fn packages(versions: &str) -> Vec<&str> {
    let packages = versions.split("[[package]]").skip(1);
    packages.filter_map(|package| package.split("name = \"").nth(1)?.split('"').next()).collect()
}

/// Insists that a crate can have this name.
fn check(name: &str, packages: &[&str]) -> Result<()> {
    let letters = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
    ensure!(
        name.starts_with(|letter: char| letter.is_ascii_alphabetic()) && name.chars().all(letters),
        "`{name}` is no name of a crate: letters, digits, `-` and `_`, and a letter first"
    );
    let is_taken = TAKEN.split(' ').chain(packages.iter().copied()).any(|taken| taken == name);
    ensure!(!is_taken, "the name `{name}` is taken by Rust, by cargo or by what Atoll is built of");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        guest, host_command,
        image::{self, Profile},
        kernel_line::KernelLine,
        process,
        program::Program,
    };
    use std::time::Duration;

    const LIMIT: Duration = Duration::from_secs(600);

    #[test]
    fn a_new_crate_runs_and_its_test_passes() {
        let parent = tempfile::tempdir().unwrap();
        let directory = parent.path().join("deep/my-ring");
        make(&directory).unwrap();
        let program = Program::resolve(directory.to_str().unwrap()).unwrap();
        assert_eq!((program.name.as_str(), program.is_own), ("my-ring", true));

        // Whoever builds in the usual one would keep this test waiting.
        let target = workspace::target().join("new");
        // Not optimised, as `cargo test` builds it, too: what it depends on is compiled once, and soon. Nobody debugs it here.
        let configuration = parent.path().join(".cargo/config.toml");
        workspace::put(&configuration, b"[profile.dev]\ndebug = false\nincremental = false\n").unwrap();
        let built = image::host_in(&program, Profile::Debug, &target).unwrap();
        assert_eq!(built.warnings, [""; 0]);
        let words = KernelLine::default().value("cores", Some(5)).value("rounds", Some(3));
        let mut command = host_command::of(&built.executable, words, &[]).unwrap();
        let outcome = guest::run("my-ring", &mut command, None, LIMIT, |_| {}).unwrap();
        outcome.verdict().unwrap();
        assert_eq!(outcome.transcript.text, ["after 3 rounds the sum of 5 numbers is 10"]);

        let mut command = workspace::command(workspace::host_cargo());
        command.arg("test").current_dir(&directory).env("CARGO_TARGET_DIR", &target);
        let tested = process::finish(&mut command, |_| {}).unwrap();
        assert!(tested.status.success(), "{}{}", tested.output, tested.messages);
        assert!(tested.output.contains("all_numbers_come_around ... ok"), "{}", tested.output);

        let message = make(&directory).unwrap_err().to_string();
        assert!(message.contains("my-ring exists already"), "{message}");

        // What bare metal refuses is refused on the host: `std` in a module of the program's, and in what it depends on.
        let refused = |name: &str| {
            let message = image::host_in(&program, Profile::Debug, &target).unwrap_err().to_string();
            assert!(message.contains(&format!("the crate `{name}` uses `std`")), "{message}");
            assert!(!message.contains('\n'), "{message}");
        };
        let [main, manifest] = ["src/main.rs", "Cargo.toml"].map(|file| directory.join(file));
        let source = fs::read_to_string(&main).unwrap();
        fs::write(directory.join("src/log.rs"), "extern crate std;\n").unwrap();
        fs::write(&main, format!("{source}\nmod log;\n")).unwrap();
        refused("my-ring");
        fs::write(&main, source).unwrap();
        let depends = fs::read_to_string(&manifest)
            .unwrap()
            .replace("[dependencies]", "[dependencies]\nchatter = { path = \"chatter\" }");
        fs::write(&manifest, depends).unwrap();
        fs::create_dir_all(directory.join("chatter/src")).unwrap();
        fs::write(directory.join("chatter/Cargo.toml"), "[package]\nname = \"chatter\"\nedition = \"2024\"\n").unwrap();
        fs::write(directory.join("chatter/src/lib.rs"), "pub fn chat() {}\n").unwrap();
        refused("chatter");
    }

    #[test]
    fn what_no_crate_can_be_called_is_refused_before_anything_is_made() {
        let parent = tempfile::tempdir().unwrap();
        for name in
            ["fn", "kernel", "descriptions", "prices", "threads", "test", "1st", "-x", "a b", "x.y", "größe", ".."]
        {
            let message = format!("{:#}", make(&parent.path().join("deep").join(name)).unwrap_err());
            assert!(message.contains("cannot be the directory of a crate") && !message.contains('\n'), "{message}");
        }
        assert!(!parent.path().join("deep").exists());
    }

    #[test]
    fn all_that_atoll_is_built_of_is_taken() {
        let versions = fs::read_to_string(workspace::root().join("Cargo.lock")).unwrap();
        let taken = packages(&versions);
        assert!(["collectives", "hal", "kernel", "spin", "xtask"].iter().all(|name| taken.contains(name)), "{taken:?}");
    }

    #[test]
    fn a_crate_may_be_named_like_what_stands_for_its_name() {
        let parent = tempfile::tempdir().unwrap();
        for name in ["NAME", "KERNEL", "DIRECTORY"] {
            let directory = parent.path().join("<name> <kernel>").join(name);
            make(&directory).unwrap();
            let [manifest, main] =
                ["Cargo.toml", "src/main.rs"].map(|file| fs::read_to_string(directory.join(file)).unwrap());
            let kernel = workspace::root().join("kernel").canonicalize().unwrap();
            assert!(manifest.contains(&format!("name = {name:?}\n")), "{manifest}");
            assert!(manifest.contains(&format!("kernel = {{ path = {kernel:?} }}")), "{manifest}");
            assert!(main.contains(&format!("NAME: &'static str = {name:?};")), "{main}");
            let shown = directory.canonicalize().unwrap();
            assert!(main.contains(&format!("cargo xtask run {} --cores 8", shown.display())), "{main}");
        }
    }
}
