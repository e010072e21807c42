//! What to build and run: a program of the tree by its name, or a user's own crate by its directory.

use crate::{c, workspace};
use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// The program that runs where none is named: the main job.
pub(crate) const DEFAULT_PROGRAM: &str = "terrain";

/// What names of programs that measure begin with.
const MEASUREMENTS: &str = "bench-";

/// One of them, which stands for their image.
const MEASUREMENT: &str = "bench-pscw";

/// The program that counts instructions, which has an image of its own.
const INSTRUCTIONS: &str = "bench-instructions";

/// The program that counts every operation; it is in one image with the tests.
pub(crate) const ROUNDS: &str = "rounds";

/// A binary target of cargo's, and the program in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Program {
    /// The program's name, which is also that of the directory with its results.
    pub(crate) name: String,
    /// Directory of the workspace or of the user's crate.
    pub(crate) directory: PathBuf,
    /// Package and binary for cargo's `-p` and `--bin`.
    pub(crate) package: String,
    pub(crate) binary: String,
    /// Whether it is a crate of the user's own, whose image chooses the program itself unless told.
    pub(crate) is_own: bool,
    /// The program in C that the package runs.
    pub(crate) c: Option<c::Sources>,
}

impl Program {
    /// The Rust side of programs in C.
    pub(crate) fn c_programs() -> Self {
        const PACKAGE: &str = "c-programs";
        Self {
            name: PACKAGE.into(),
            directory: workspace::root(),
            package: PACKAGE.into(),
            binary: PACKAGE.into(),
            is_own: false,
            c: None,
        }
    }

    /// A program of the tree: one that measures, one of the image with the tests, or one of the image `atoll`.
    fn named(name: &str) -> Self {
        let (package, binary) = match name {
            ROUNDS => ("tests", "integration"),
            INSTRUCTIONS => ("measurements", "instructions"),
            _ if name.starts_with(MEASUREMENTS) => ("measurements", "measurements"),
            _ => ("kernel", "atoll"),
        };
        Self {
            name: name.into(),
            directory: workspace::root(),
            package: package.into(),
            binary: binary.into(),
            is_own: false,
            c: None,
        }
    }

    /// What the user means by these words: files in C, or what [`resolve`](Self::resolve) knows.
    pub(crate) fn of_words(words: &[String], options: &c::CompilerOptions) -> Result<Self> {
        if let Some(sources) = c::Sources::of(words, options)? {
            return Ok(Self { name: sources.name(), c: Some(sources), ..Self::c_programs() });
        }
        ensure!(words.len() < 2, "one program at a time runs, and {} are given", words.len());
        Self::resolve(words.first().map_or(DEFAULT_PROGRAM, String::as_str))
    }

    /// The same program for the checker, which is told what a program in C loads and stores.
    pub(crate) fn checked(self) -> Self {
        Self { c: self.c.map(c::Sources::checked), ..self }
    }

    /// The same program for the simulator, where computation in C takes the time that it would take on a P54C.
    pub(crate) fn priced(self) -> Self {
        Self { c: self.c.map(c::Sources::priced), ..self }
    }

    /// The name by which an image with several programs is told this one.
    pub(crate) fn chosen(&self) -> Option<&str> {
        (!self.is_own && self.c.is_none()).then_some(&self.name)
    }

    /// The user's words for the kernel: as they are, or arguments of a program in C among them.
    pub(crate) fn words(&self, given: &[String]) -> Vec<String> {
        self.c.as_ref().map_or_else(|| given.to_vec(), |sources| sources.words(given))
    }

    /// One program of each image of the tree.
    pub(crate) fn of_each_image() -> [Self; 3] {
        [DEFAULT_PROGRAM, MEASUREMENT, INSTRUCTIONS].map(Self::named)
    }

    /// The image with the in-kernel tests.
    pub(crate) fn integration() -> Self {
        Self { name: "integration".into(), ..Self::named(ROUNDS) }
    }

    /// Finds out what the user means: a name, or the directory of a crate that depends on `kernel`.
    pub(crate) fn resolve(text: &str) -> Result<Self> {
        let path = Path::new(text);
        if path.join("Cargo.toml").is_file() {
            return Self::own(path);
        }
        let letters = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
        if text.contains('/') || path.is_dir() || text.starts_with('.') {
            bail!("{text} has no Cargo.toml; a program is a name or the directory of a crate that depends on `kernel`");
        }
        ensure!(!text.is_empty() && text.chars().all(letters), "`{text}` is not the name of a program");
        Ok(Self::named(text))
    }

    fn own(path: &Path) -> Result<Self> {
        let directory = path.canonicalize().with_context(|| format!("cannot open {}", path.display()))?;
        Self::from_metadata(&metadata(&directory, &["--no-deps"])?, &directory)
    }

    fn from_metadata(metadata: &Value, directory: &Path) -> Result<Self> {
        let shown = directory.display();
        let manifest = directory.join("Cargo.toml");
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let packages = list(&metadata["packages"]);
        let is_this =
            |package: &&Value| package["manifest_path"].as_str().is_some_and(|path| Path::new(path) == manifest);
        let package = packages.iter().find(is_this).with_context(|| format!("{shown} is no package"))?;
        let name = package["name"].as_str().unwrap_or_default().to_owned();
        ensure!(
            name == "kernel" || list(&package["dependencies"]).iter().any(|dependency| dependency["name"] == "kernel"),
            "package {name} does not depend on `kernel`"
        );
        let targets = list(&package["targets"]);
        let is_binary = |target: &&Value| list(&target["kind"]).iter().any(|kind| kind == "bin");
        let binaries: Vec<_> = targets.iter().filter(is_binary).filter_map(|target| target["name"].as_str()).collect();
        let binary = match (package["default_run"].as_str(), &binaries[..]) {
            (Some(binary), _) => binary,
            (None, [binary]) => binary,
            (None, []) => bail!("package {name} has no binary (src/main.rs)"),
            (None, [..]) => bail!("package {name} has several binaries; name one as `default-run` in its Cargo.toml"),
        };
        let root = targets.iter().filter(is_binary).find(|target| target["name"] == binary);
        if let Some(root) = root.and_then(|target| target["src_path"].as_str())
            && let Ok(source) = fs::read_to_string(root)
        {
            check_image(&source, Path::new(root))?;
        }
        Ok(Self {
            name: binary.into(),
            directory: directory.into(),
            package: name.clone(),
            binary: binary.into(),
            is_own: true,
            c: None,
        })
    }
}

/// What cargo says about the crate in a directory.
pub(crate) fn metadata(directory: &Path, options: &[&str]) -> Result<Value> {
    let mut command = workspace::command(workspace::host_cargo());
    command.args(["metadata", "--format-version", "1"]).args(options).current_dir(directory);
    let output = command.output().context("cannot start cargo")?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        bail!("cargo does not understand {}: {}", directory.display(), message.trim().trim_start_matches("error: "));
    }
    serde_json::from_slice(&output.stdout).context("cargo's metadata is damaged")
}

/// Checks the source that a program's crate begins with, before anything is built: what goes wrong later is hard to
/// understand, and differs between the backends.
fn check_image(source: &str, path: &Path) -> Result<()> {
    let code = || source.lines().map(|line| line.split("//").next().unwrap_or_default());
    let has = |words: &str| code().any(|line| line.split_whitespace().collect::<String>().contains(words));
    ensure!(
        has("image!(") || has("image!{") || has("image!["),
        "{} makes no image: end it with `kernel::image!(YourProgram);`, where `YourProgram` implements `kernel::Program`",
        workspace::display(path)
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn metadata(dependencies: &[&str], binaries: &[&str]) -> Value {
        let targets: Vec<_> = binaries.iter().map(|name| json!({"kind": ["bin"], "name": name})).collect();
        let dependencies: Vec<_> = dependencies.iter().map(|name| json!({"name": name})).collect();
        json!({"packages": [
            {"name": "other", "manifest_path": "/y/Cargo.toml"},
            {"name": "mine", "manifest_path": "/x/Cargo.toml", "dependencies": dependencies, "targets": targets, "default_run": null},
        ]})
    }

    #[test]
    fn own_crates() {
        let program = Program::from_metadata(&metadata(&["kernel"], &["pi"]), Path::new("/x")).unwrap();
        assert_eq!((program.name.as_str(), program.package.as_str(), program.is_own), ("pi", "mine", true));
        for (metadata, expected) in [
            (metadata(&["libm"], &["pi"]), "does not depend"),
            (metadata(&["kernel"], &[]), "no binary"),
            (metadata(&["kernel"], &["a", "b"]), "default-run"),
        ] {
            let message = Program::from_metadata(&metadata, Path::new("/x")).unwrap_err().to_string();
            assert!(message.contains(expected), "{message}");
        }
        assert!(Program::from_metadata(&metadata(&["kernel"], &["a"]), Path::new("/z")).is_err());
    }

    #[test]
    fn sources_without_an_image_are_refused() {
        let check = |source: &str| check_image(source, Path::new("/x/src/main.rs")).map_err(|error| error.to_string());
        assert_eq!(check("//! A ring.\n#![no_std]\nkernel::image!(Ring);"), Ok(()));
        let message = check("#![no_std]\nfn main() {} // no image!(X)").unwrap_err();
        assert!(message.contains("makes no image") && !message.contains('\n'), "{message}");
    }

    #[test]
    fn names_and_what_is_none() {
        assert_eq!(Program::resolve("terrain").unwrap(), Program::named("terrain"));
        let images =
            ["hello", "bench-pscw", "bench-instructions", "rounds"].map(|name| Program::resolve(name).unwrap().binary);
        assert_eq!(images, ["atoll", "measurements", "instructions", "integration"]);
        for text in ["", "a b", "no/such", "./terrain", "program=x"] {
            assert!(Program::resolve(text).is_err(), "{text}");
        }
    }
}
