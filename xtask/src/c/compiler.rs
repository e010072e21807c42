//! Compiles C: the same compiler for both sides, so that programs compute the same bits.
//!
//! With `-fexcess-precision=standard` what is kept in registers of the x87 has the same precision wherever the compiler keeps it,
//! and it may keep it elsewhere on a machine with more registers.

use super::{CompilerOptions, priced};
use crate::{process, workspace};
use anyhow::{Result, bail, ensure};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Where a program is to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Simulator,
    P54c,
}

/// The compiler of a side.
pub(super) struct Compiler {
    pub(super) side: Side,
    pub(super) path: PathBuf,
    /// Directories with headers, those that come first first.
    pub(super) headers: Vec<PathBuf>,
}

/// What names the host's system, which none of our sides has.
pub(super) const UNDEFINED: [&str; 7] =
    ["-U__linux__", "-U__linux", "-Ulinux", "-U__gnu_linux__", "-U__unix__", "-U__unix", "-Uunix"];

/// Flags that belong to the sides, for newlib as well as for programs.
pub(super) fn of_side(side: Side) -> &'static [&'static str] {
    match side {
        Side::Simulator => &["-fPIE", "-fvisibility=hidden", "-mfpmath=387"],
        Side::P54c => {
            &["-m32", "-march=pentium", "-mfpmath=387", "-fno-pic", "-fno-pie", "-fno-asynchronous-unwind-tables"]
        }
    }
}

/// Flags of everything.
pub(super) const COMMON: [&str; 7] = [
    "-g",
    "-std=gnu17",
    "-fno-stack-protector",
    "-fcf-protection=none",
    "-fexcess-precision=standard",
    "-ffunction-sections",
    "-fdata-sections",
];

/// Parts of POSIX that `kernel/c/system` has: newlib declares them where it is told so.
const DECLARED: [&str; 8] = [
    "_POSIX_TIMERS",
    "_POSIX_MONOTONIC_CLOCK",
    "_POSIX_THREADS",
    "_POSIX_BARRIERS",
    "_POSIX_SPIN_LOCKS",
    "_POSIX_READER_WRITER_LOCKS",
    "_UNIX98_THREAD_MUTEX_ATTRIBUTES",
    "_POSIX_PRIORITY_SCHEDULING",
];

/// Where a unit's flags come from.
pub(super) trait Flags {
    /// The flags.
    fn flags(&self) -> Vec<String>;
}

/// Our own sources.
pub(super) struct Own;

impl Flags for Own {
    fn flags(&self) -> Vec<String> {
        ["-O2", "-Wall", "-Wextra", "-Werror"].map(str::to_owned).to_vec()
    }
}

impl Flags for CompilerOptions {
    fn flags(&self) -> Vec<String> {
        let include = self.include.iter().flat_map(|path| ["-I".to_owned(), path.to_string_lossy().into_owned()]);
        let define = self.define.iter().flat_map(|name| ["-D".to_owned(), name.clone()]);
        let level = format!("-O{}", self.optimise.as_deref().unwrap_or(if self.checked { "0" } else { "2" }));
        // What the compiler made of calls of the library would not be seen.
        let told = if self.checked { &["-fsanitize=thread", "-fno-builtin"][..] } else { &[] };
        // Older programs define variables in headers, and a rank is one thread.
        let older = ["-fcommon", "-D__thread=", "-D_Thread_local="].map(str::to_owned);
        include
            .chain(define)
            .chain([level])
            .chain(told.iter().map(|flag| (*flag).to_owned()))
            .chain(older)
            .chain(self.more.iter().cloned())
            .collect()
    }
}

/// The compiler's words for what is to be priced.
struct Priced<'o>(&'o CompilerOptions);

impl Flags for Priced<'_> {
    fn flags(&self) -> Vec<String> {
        self.0.flags().into_iter().chain(priced::FLAGS.map(str::to_owned)).collect()
    }
}

/// The compiler's words without warnings, which were shown before.
pub(super) struct Silently<'o>(pub(super) &'o CompilerOptions);

impl Flags for Silently<'_> {
    fn flags(&self) -> Vec<String> {
        // Rules for makefiles have been made, too.
        let mut flags = without_rules(self.0.flags());
        flags.push("-w".into());
        flags
    }
}

/// The flags that do not ask for rules for makefiles.
pub(super) fn without_rules(flags: Vec<String>) -> Vec<String> {
    let mut left = Vec::new();
    let mut flags = flags.into_iter();
    while let Some(flag) = flags.next() {
        if ["-MF", "-MT", "-MQ"].contains(&flag.as_str()) {
            flags.next();
        } else if !flag.starts_with("-M") {
            left.push(flag);
        }
    }
    left
}

/// All flags of a side, and where its headers are.
pub(super) fn flags(compiler: &Compiler) -> Vec<String> {
    let mut flags: Vec<_> =
        [of_side(compiler.side), &COMMON, &UNDEFINED].concat().into_iter().map(str::to_owned).collect();
    // What newlib declares only where it is told so.
    flags.extend(DECLARED.map(|name| format!("-D{name}=1")));
    // As many descriptors as elsewhere: newlib's sets have room for 64.
    flags.push("-DFD_SETSIZE=1024".into());
    flags.push("-nostdinc".into());
    for headers in &compiler.headers {
        flags.extend(["-isystem".to_owned(), headers.to_string_lossy().into_owned()]);
    }
    flags
}

fn command(compiler: &Compiler, flags_of: &dyn Flags) -> Command {
    let mut command = super::tool(&compiler.path);
    command.args(flags(compiler)).args(flags_of.flags());
    command
}

/// Compiles one file.
pub(super) fn compile(compiler: &Compiler, source: &Path, flags: &dyn Flags, object: &Path) -> Result<()> {
    compile_to("-c", compiler, source, flags, object)
}

/// Compiles one file for the simulator, so that what it computes there takes the time that it would take on a P54C, for which it is compiled,
/// too. Where that refuses it, it takes no time, and a line says so.
pub(super) fn compile_priced(
    [simulator, p54c]: [&Compiler; 2],
    source: &Path,
    options: &CompilerOptions,
    object: &Path,
) -> Result<()> {
    let [own, other, made] = ["own.s", "p54c.s", "priced.s"].map(|kind| object.with_extension(kind));
    compile_to("-S", simulator, source, &Priced(options), &own)?;
    let price = || {
        if let Err(messages) = attempt("-S", p54c, source, &Silently(options), &other)? {
            bail!("{}", first_error(&messages));
        }
        let [first, second] = [&own, &other].map(fs::read_to_string);
        priced::priced(&first?, &second?, &p54c.path, &object.with_extension("marked"))
    };
    let assembly = match price() {
        Ok(priced) => {
            fs::write(&made, priced)?;
            &made
        }
        Err(error) => {
            let (file, why) = (workspace::display(source), format!("{error:#}"));
            eprintln!(
                "{file}: what it computes takes no virtual time, since it cannot be compiled for the P54C: {}",
                first_error(&why)
            );
            &own
        }
    };
    super::step(super::tool(&simulator.path).arg("-c").arg(assembly).arg("-o").arg(object), "assemble a program")
}

fn compile_to(kind: &str, compiler: &Compiler, source: &Path, flags: &dyn Flags, made: &Path) -> Result<()> {
    let outcome = attempt(kind, compiler, source, flags, made)?;
    let (Ok(messages) | Err(messages)) = &outcome;
    eprint!("{messages}");
    if outcome.is_err() {
        bail!("cannot compile {}: {}", workspace::display(source), first_error(messages));
    }
    Ok(())
}

/// Compiles a file and returns what the compiler says, as an error if it refuses it.
fn attempt(
    kind: &str,
    compiler: &Compiler,
    source: &Path,
    flags: &dyn Flags,
    made: &Path,
) -> Result<Result<String, String>> {
    let mut first = command(compiler, flags);
    first.arg(kind).arg(source).arg("-o").arg(made);
    let finished = process::finish(&mut first, |_| {})?;
    let mut messages = finished.messages;
    if finished.status.success() {
        return Ok(Ok(messages));
    }
    if messages.contains(NO_CONSTANT) {
        if compile_with_constants(kind, compiler, source, flags, made)? {
            return Ok(Ok(String::new()));
        }
        messages.push_str("a size must be a constant: make one by `#define` or `enum` of the `const int`\n");
    }
    Ok(Err(messages))
}

/// The line of what a compiler or assembler says that tells why it refuses a file.
fn first_error(messages: &str) -> &str {
    let line = messages.lines().find(|line| line.to_lowercase().contains("error:"));
    line.or_else(|| messages.lines().next()).unwrap_or("the compiler has failed")
}

/// Preprocesses a file, into another one or to standard output.
pub(super) fn preprocess(compiler: &Compiler, source: &Path, flags: &dyn Flags, out: Option<&Path>) -> Result<()> {
    let finished = process::finish(command(compiler, flags).arg("-E").arg(source), |_| {})?;
    eprint!("{}", finished.messages);
    ensure!(finished.status.success(), "cannot preprocess {}", workspace::display(source));
    match out {
        Some(out) => workspace::put(out, finished.output.as_bytes()),
        None => {
            print!("{}", finished.output);
            Ok(())
        }
    }
}

/// What the compiler says of an array as long as a `const int`, which Intel's takes for a constant.
const NO_CONSTANT: &str = "variably modified";

/// Compiles a file with `static const int` of the file's own made constants; returns whether that works.
fn compile_with_constants(
    kind: &str,
    compiler: &Compiler,
    source: &Path,
    flags: &dyn Flags,
    made: &Path,
) -> Result<bool> {
    let finished = process::finish(command(compiler, flags).arg("-E").arg(source), |_| {})?;
    if !finished.status.success() {
        return Ok(false);
    }
    let preprocessed: PathBuf = made.with_extension("i");
    fs::write(&preprocessed, with_constants(&finished.output))?;
    // Rules for makefiles are of the file itself, and the preprocessor has made them.
    let mut second = super::tool(&compiler.path);
    second.args(self::flags(compiler)).args(without_rules(flags.flags()));
    second.args(["-fpreprocessed", kind]).arg(&preprocessed).arg("-o").arg(made);
    Ok(process::finish(&mut second, |_| {})?.status.success())
}

/// Makes enumerations of lines `static const int a = 1, b = 2;`.
fn with_constants(text: &str) -> String {
    let constants = |line: &str| {
        let words = line.trim().strip_suffix(';')?;
        let list = words.strip_prefix("static const int ").or_else(|| words.strip_prefix("const static int "))?;
        (!list.contains(['[', '*', ';', '{'])).then(|| format!("enum {{ {list} }};"))
    };
    text.lines().map(|line| constants(line).unwrap_or_else(|| line.to_owned()) + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_of_intels_compiler() {
        let text = "# 1 \"a.h\"\n  static const int a = 12, b = a;\nstatic const int *p;\nstatic const int t[2] = {1, 2};\nint x[a];\n";
        let made = with_constants(text);
        assert_eq!(
            made,
            "# 1 \"a.h\"\nenum { a = 12, b = a };\nstatic const int *p;\nstatic const int t[2] = {1, 2};\nint x[a];\n"
        );
    }
}
