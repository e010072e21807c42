//! Programs in C: compiled with a C library of our own, and linked with a Rust side that is built once.
//!
//! A program is built for one of two sides (`compiler::Side`). For the simulator it becomes an executable without any libraries, which the
//! package `c-programs` loads once for each rank. For the P54C its objects become one, of which only the entry is seen, and
//! are linked with that package's archive into an image like any other.

pub(crate) mod cc;
mod compiler;
mod library;
mod link;
mod newlib;
mod objects;
mod priced;
mod prices;

use crate::{process, workspace};
use anyhow::{Context, Result, ensure};
use clap::Args;
use std::{
    ffi::OsStr,
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    path::{Path, PathBuf},
    process::Command,
};
use tempfile::NamedTempFile;

pub(crate) use library::{prepare, tools};
pub(crate) use link::{for_p54c, for_simulator, kept};

/// Words of the machine's among a program's arguments, by their beginning; a program may have a `check=` of its own.
const OF_THE_MACHINE: [&str; 5] = ["heap_kib=", "heap0_kib=", "stack_kib=", "stuck_s=", "check=arguments"];

/// The start of the word that tells the simulator which file to load.
pub(crate) const IMAGE: &str = "image=";

/// MiB of a rank's stack.
const STACK_MIB: usize = 8;

/// Pages of shared memory that a rank can hold in the simulator: all that there is, since programs reach it by pointers.
pub(crate) const SIMULATED_CACHE_FRAMES: usize = 16384;

/// MiB of a rank's heap in the simulator, where what is not touched takes no memory.
pub(crate) const SIMULATED_HEAP_MIB: usize = 512;

/// How files in C are compiled.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct CompilerOptions {
    /// C: directory with headers
    #[arg(short = 'I', value_name = "DIR")]
    include: Vec<PathBuf>,

    /// C: define a macro
    #[arg(short = 'D', value_name = "NAME[=VALUE]")]
    define: Vec<String>,

    /// C: level of optimisation: 0, 1, 2, 3, s [default: 2]
    #[arg(short = 'O', value_name = "LEVEL")]
    optimise: Option<String>,

    /// C: variable for getenv
    #[arg(long = "env", value_name = "NAME=VALUE")]
    environment: Vec<String>,

    /// C: send RCCE's messages by RCCE's own protocol, instead of the fastest
    #[arg(long)]
    rcce_faithful: bool,

    /// Whether loads and stores are told to the checker.
    #[arg(skip)]
    checked: bool,

    /// Whether computation takes virtual time.
    #[arg(skip)]
    priced: bool,

    /// What a makefile has asked the compiler for besides.
    #[arg(skip)]
    more: Vec<String>,
}

impl CompilerOptions {
    /// For a test: these macros, and perhaps RCCE's own protocol.
    pub(crate) fn of_test(define: &[&str], rcce_faithful: bool) -> Self {
        Self { define: define.iter().map(|name| (*name).to_owned()).collect(), rcce_faithful, ..Self::default() }
    }

    /// Whether the compiler is to make rules for makefiles besides.
    fn makes_rules(&self) -> bool {
        self.more.iter().any(|flag| flag == "-MD" || flag == "-MMD")
    }

    /// With rules for makefiles, if they are asked for, in the file beside this object or program and about it: what is compiled
    /// on the way to it has other names.
    fn with_rules_for(&self, object: &Path) -> Self {
        let mut options = self.clone();
        let has = |option: &str| self.more.iter().any(|flag| flag == option);
        if self.makes_rules() {
            let mut add = |option: &str, path: &Path| {
                options.more.extend([option.to_owned(), path.to_string_lossy().into_owned()]);
            };
            if !has("-MF") {
                add("-MF", &object.with_extension("d"));
            }
            if !has("-MT") && !has("-MQ") {
                add("-MQ", object);
            }
        }
        options
    }

    /// Nothing but a variable for getenv.
    pub(crate) fn with_environment(variable: &str) -> Self {
        Self { environment: vec![variable.into()], ..Self::default() }
    }
}

/// A program in C: its files and how they are compiled.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Sources {
    files: Vec<PathBuf>,
    options: CompilerOptions,
}

impl Sources {
    /// The program in these files, where they are of C.
    ///
    /// # Errors
    /// When one is and another is not, or cannot be read.
    pub(crate) fn of(files: &[String], options: &CompilerOptions) -> Result<Option<Self>> {
        let files: Vec<_> = files.iter().map(PathBuf::from).collect();
        let is_part = |file: &&PathBuf| is_c(file) || objects::is_object(file);
        if !files.iter().any(|file| is_part(&file)) {
            ensure!(
                *options == CompilerOptions::default(),
                "-I, -D, -O, --env and --rcce-faithful are for programs in C"
            );
            return Ok(None);
        }
        for file in &files {
            ensure!(file.is_file(), "there is no file {}", workspace::display(file));
            ensure!(is_part(&file), "{} is neither in C nor an object, as the others are", workspace::display(file));
        }
        Ok(Some(Self { files, options: options.clone() }))
    }

    /// The same program, whose loads and stores are told to the checker.
    pub(crate) fn checked(self) -> Self {
        Self { options: CompilerOptions { checked: true, ..self.options }, ..self }
    }

    /// The same program, whose computation takes virtual time.
    pub(crate) fn priced(self) -> Self {
        Self { options: CompilerOptions { priced: true, ..self.options }, ..self }
    }

    /// The name of the program: the first file's.
    pub(crate) fn name(&self) -> String {
        let name = self.files[0].file_stem().unwrap_or_default().to_string_lossy().into_owned();
        name.chars()
            .map(|letter| if letter.is_ascii_alphanumeric() || "_-".contains(letter) { letter } else { '_' })
            .collect()
    }

    /// The words for the kernel: the machine's as they are, all others as arguments of the program.
    pub(crate) fn words(&self, given: &[String]) -> Vec<String> {
        let (mut words, arguments): (Vec<_>, Vec<_>) = given.iter().cloned().partition(|word| is_of_the_machine(word));
        if !words.iter().any(|word| word.starts_with("stack_kib=")) {
            words.push(format!("stack_kib={}", STACK_MIB << 10));
        }
        words.extend(arguments.iter().map(|word| format!("argument={}", encoded(word))));
        words.extend(self.options.rcce_faithful.then(|| "rcce_faithful".to_owned()));
        words.extend(self.options.environment.iter().map(|word| format!("environment={}", encoded(word))));
        words
    }

    /// A number that tells programs apart which have the same name.
    fn checksum(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        hasher.finish()
    }
}

/// Copies a file, with its permissions, to where others may do the same at the same time, or use what is there.
fn keep(made: &Path, kept: &Path) -> Result<()> {
    let context = || format!("cannot write {}", workspace::display(kept));
    let directory = kept.parent().unwrap_or(Path::new("."));
    let beside = NamedTempFile::new_in(directory).with_context(context)?.into_temp_path();
    fs::copy(made, &beside).with_context(context)?;
    beside.persist(kept).with_context(context)
}

/// A tool, whose messages are in English: some are looked into.
fn tool(program: impl AsRef<OsStr>) -> Command {
    let mut command = workspace::command(program);
    command.env("LC_ALL", "C.UTF-8");
    command
}

/// Runs a tool.
fn step(command: &mut Command, what: &str) -> Result<()> {
    let finished = process::finish(command, |_| {})?;
    ensure!(finished.status.success(), "cannot {what}: {}", finished.messages.trim());
    Ok(())
}

fn is_of_the_machine(word: &str) -> bool {
    OF_THE_MACHINE.iter().any(|beginning| word.starts_with(beginning))
}

fn is_c(file: &Path) -> bool {
    file.extension().is_some_and(|kind| kind == "c")
}

/// A word as the kernel's command line can hold it.
pub(crate) fn encoded(word: &str) -> String {
    let mut text = String::new();
    for byte in word.bytes() {
        if byte.is_ascii_graphic() && byte != b'"' && byte != b'%' {
            text.push(byte.into());
        } else {
            text.push_str(&format!("%{byte:02x}"));
        }
    }
    text
}

/// What was [`encoded`].
pub(crate) fn decoded(text: &str) -> String {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        bytes.extend(part.get(..2).and_then(|code| u8::from_str_radix(code, 16).ok()));
        bytes.extend(part.get(2..).unwrap_or_default().bytes());
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn many_threads_keep_the_same_program() {
        let directory = tempfile::tempdir().unwrap();
        let [made, kept] = ["made", "kept"].map(|name| directory.path().join(name));
        fs::write(&made, vec![7; 100_000]).unwrap();
        fs::set_permissions(&made, fs::Permissions::from_mode(0o755)).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| (0..20).for_each(|_| keep(&made, &kept).unwrap()));
            }
        });
        assert_eq!(fs::read(&kept).unwrap(), vec![7; 100_000]);
        assert_eq!(fs::metadata(&kept).unwrap().permissions().mode() & 0o777, 0o755);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2);
    }

    #[test]
    fn words_pass_the_command_line() {
        assert_eq!(encoded("a b%\"ä="), "a%20b%25%22%c3%a4=");
        assert_eq!(decoded("a%20b%25%22%c3%a4="), "a b%\"ä=");
        let sources = Sources { files: vec!["/x/a b.c".into()], options: CompilerOptions::default() };
        assert_eq!(sources.name(), "a_b");
        let words =
            |given: &[&str]| sources.words(&given.iter().map(ToString::to_string).collect::<Vec<_>>()).join(" ");
        assert_eq!(words(&["10", "stack_kib=9", "cores=3", ""]), "stack_kib=9 argument=10 argument=cores=3 argument=");
        assert_eq!(words(&["work=9"]), "stack_kib=8192 argument=work=9");
        assert_eq!(words(&["check=all", "check=arguments"]), "check=arguments stack_kib=8192 argument=check=all");
        assert_eq!(words(&[]), "stack_kib=8192");
    }
}
