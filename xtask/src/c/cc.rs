//! `cargo xtask cc`: the compiler and linker of other people's makefiles.

use super::{
    CompilerOptions, Sources,
    compiler::{self, Compiler, Side},
    is_c,
    library::{self, Library},
    link, objects,
};
use crate::workspace;
use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
};

/// Compile and link C as makefiles ask for it, for `run`, `sim`, `board` and `flash`
///
/// Takes what compilers take: `-c`, `-o`, `-I`, `-D`, `-U`, `-O`, `-l`, `-L`, `-std=`, `-f…`, `-W…`, files in C, objects and
/// archives. What it makes holds the program for the P54C and for the simulator. `make CC="cargo xtask cc"` is all that most
/// makefiles need.
#[derive(Args)]
pub(crate) struct Arguments {
    /// What compilers take
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true, value_name = "WORDS")]
    words: Vec<String>,
}

/// What the words ask for.
#[derive(Debug, Default, PartialEq, Eq)]
struct Request {
    /// Stop before linking.
    compiles: bool,
    /// Only preprocess.
    preprocesses: bool,
    out: Option<PathBuf>,
    files: Vec<PathBuf>,
    libraries: Vec<String>,
    directories: Vec<PathBuf>,
    options: CompilerOptions,
}

/// Libraries that every program has anyway, and what makefiles call those of MPI and RCCE.
const PRESENT: [&str; 12] = ["m", "c", "gcc", "pthread", "rt", "dl", "util", "gomp", "mpi", "mpich", "RCCE", "iRCCE"];

impl Request {
    fn parse(words: &[String]) -> Result<Self> {
        let mut request = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            // Of an option that has a value, beside it or behind it.
            let mut value = |option: &str| -> Result<String> {
                match &word[option.len()..] {
                    "" => words.next().cloned().with_context(|| format!("{option} has no value")),
                    rest => Ok(rest.to_owned()),
                }
            };
            let starts = |option: &str| word.starts_with(option);
            match word.as_str() {
                "-c" => request.compiles = true,
                "-E" => request.preprocesses = true,
                "-M" | "-MM" => {
                    request.preprocesses = true;
                    request.options.more.push(word.clone());
                }
                // A rank is one thread, to which directives of OpenMP are comments.
                "-fopenmp" | "-openmp" | "-qopenmp" => {}
                "-restrict" | "-pthread" | "-static" | "-s" | "-pipe" | "-p" | "-pg" | "-rdynamic" => {}
                "-ansi" => request.options.more.push(word.clone()),
                _ if starts("--std=") => request.options.more.push(word[1..].into()),
                _ if starts("-o") => request.out = Some(value("-o")?.into()),
                _ if starts("-I") => request.options.include.push(value("-I")?.into()),
                "-isystem" | "-iquote" => request.options.include.push(value(word)?.into()),
                // Of those that name the same macro the last one counts.
                _ if starts("-D") => request.options.more.push(format!("-D{}", value("-D")?)),
                _ if starts("-U") => request.options.more.push(format!("-U{}", value("-U")?)),
                _ if starts("-l") => request.libraries.push(value("-l")?),
                _ if starts("-L") => request.directories.push(value("-L")?.into()),
                "-include" => request.options.more.extend([word.clone(), value(word)?]),
                _ if ["-MF", "-MT", "-MQ"].iter().any(|option| starts(option)) => {
                    request.options.more.extend([word[..3].to_owned(), value(&word[..3])?]);
                }
                _ if starts("-O") => request.options.optimise = Some(level(&word[2..])),
                // What the linker or the processor is to be told is for us to say.
                _ if starts("-Wl,") || starts("-m") => {}
                // Files in C are known by their names.
                _ if starts("-x") => drop(value("-x")?),
                _ if starts("-W")
                    || starts("-f")
                    || starts("-std=")
                    || starts("-M")
                    || starts("-w")
                    || starts("-pedantic") =>
                {
                    request.options.more.push(word.clone());
                }
                _ if starts("-g") => {}
                _ if starts("-") => bail!("`{word}` is nothing that `cargo xtask cc` understands"),
                file => request.files.push(file.into()),
            }
        }
        ensure!(!request.files.is_empty(), "no file is named that is to be compiled or linked");
        Ok(request)
    }

    /// The archives for `-l`.
    fn archives(&self) -> Result<Vec<PathBuf>> {
        let wanted = self.libraries.iter().filter(|name| !PRESENT.contains(&name.as_str()));
        let find = |name: &String| {
            let mut paths = self.directories.iter().map(|directory| directory.join(format!("lib{name}.a")));
            paths.find(|path| path.is_file()).with_context(|| format!("there is no lib{name}.a in any directory of -L"))
        };
        wanted.map(find).collect()
    }
}

/// What a level of optimisation is called here.
fn level(text: &str) -> String {
    match text {
        "" => "1".into(),
        "fast" => "3".into(),
        level => level.into(),
    }
}

/// Carries out `cargo xtask cc`.
pub(crate) fn main(arguments: &Arguments) -> Result<()> {
    if let [word] = &arguments.words[..]
        && ["-v", "--version", "-V"].contains(&word.as_str())
    {
        let tools = library::tools(false)?;
        print!("{}", tools.version);
        return Ok(());
    }
    let request = Request::parse(&arguments.words)?;
    for file in &request.files {
        ensure!(file.is_file(), "there is no file {}", workspace::display(file));
    }
    let tools = library::tools(false)?;
    let library = |side| Library::ensure(side, &tools);
    if request.preprocesses {
        ensure!(request.out.is_none() || request.files.len() == 1, "-E and -o are for one file at a time");
        let compiler = library(Side::Simulator)?.compiler;
        let mut files = request.files.iter();
        return files
            .try_for_each(|file| compiler::preprocess(&compiler, file, &request.options, request.out.as_deref()));
    }
    let [p54c, simulator] = [library(Side::P54c)?, library(Side::Simulator)?];
    let scratch = workspace::scratch()?;
    if request.compiles {
        ensure!(request.out.is_none() || request.files.len() == 1, "-c and -o are for one file at a time");
        for file in &request.files {
            let name = Path::new(file.file_name().unwrap_or_default()).with_extension("o");
            let out = request.out.clone().unwrap_or(name);
            compile(&p54c.compiler, &simulator.compiler, file, &request.options, scratch.path(), &out)?;
        }
        return Ok(());
    }
    let files = [request.files.clone(), request.archives()?].concat();
    let out = request.out.unwrap_or_else(|| "a.out".into());
    let mut options = request.options.with_rules_for(&out);
    if options.makes_rules() && files.iter().filter(|file| is_c(file)).count() > 1 {
        eprintln!("no rules for makefiles are written: they are of one file in C at a time; compile each by `-c`");
        options.more = compiler::without_rules(options.more);
    }
    let sources = Sources { files, options };
    let sides = [(&p54c, None, "p54c"), (&simulator, Some(&p54c), "simulator")];
    let [first, second] = sides.map(|(library, priced_by, name)| {
        let directory = scratch.path().join(name);
        std::fs::create_dir_all(&directory)?;
        link::own(library, priced_by, &sources, &directory)
    });
    let (first, second) = (first?, second?);
    // What is missing is said here and not only where it runs.
    link::for_host(&simulator, &second, &scratch.path().join("program"), &[])?;
    objects::join(&first, &second, &out)
}

/// Compiles a file for both sides.
fn compile(
    p54c: &Compiler,
    simulator: &Compiler,
    file: &Path,
    options: &CompilerOptions,
    scratch: &Path,
    out: &Path,
) -> Result<()> {
    ensure!(file.extension() == Some(OsStr::new("c")), "{} is no file in C", workspace::display(file));
    let [first, second] = ["p54c.o", "simulator.o"].map(|name| scratch.join(name));
    let options = options.with_rules_for(out);
    compiler::compile_priced([simulator, p54c], file, &options, &second)?;
    // What there is to say has been said.
    compiler::compile(p54c, file, &compiler::Silently(&options), &first)?;
    objects::join(&first, &second, out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Request> {
        Request::parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn makefiles_are_understood() {
        let request = parse("-O3 -restrict -DGORY -D SIZE=3 -Iinc -I ../x -std=c99 -c a.c -o a.o").unwrap();
        assert!(request.compiles && request.out == Some("a.o".into()) && request.files == [PathBuf::from("a.c")]);
        assert_eq!(request.options.include, [PathBuf::from("inc"), "../x".into()]);
        assert_eq!(
            (request.options.optimise.as_deref(), &request.options.more[..]),
            (Some("3"), &["-DGORY", "-DSIZE=3", "-std=c99"].map(str::to_owned)[..])
        );
        let request = parse("-fopenmp -ansi --std=c99 -pg a.c -lmpi -lgomp").unwrap();
        assert_eq!(request.options.more, ["-ansi", "-std=c99"]);
        assert!(request.archives().unwrap().is_empty());
        let request = parse("-oprogram a.o lib/libx.a -lm -l pthread -Llib -ly -O -m64 -Wl,-s").unwrap();
        assert_eq!((request.compiles, request.out.clone()), (false, Some("program".into())));
        assert_eq!((request.libraries.len(), request.options.optimise.as_deref()), (3, Some("1")));
        assert_eq!(request.archives().unwrap_err().to_string(), "there is no liby.a in any directory of -L");
    }

    /// The compiler itself makes another file than the one that the makefile has asked for.
    #[test]
    fn rules_for_makefiles_are_about_the_object() {
        let rules = |line: &str| parse(line).unwrap().options.with_rules_for(Path::new("out/a.o")).more;
        let expected = ["-MMD", "-MF", "out/a.d", "-MQ", "out/a.o"].map(str::to_owned);
        assert_eq!(rules("-MMD -c a.c -o out/a.o"), expected);
        assert_eq!(rules("-MMD -MF x.d -c a.c"), ["-MMD", "-MF", "x.d", "-MQ", "out/a.o"].map(str::to_owned));
        assert_eq!(rules("-MD -MTx -c a.c"), ["-MD", "-MT", "x", "-MF", "out/a.d"].map(str::to_owned));
        assert_eq!(rules("-c a.c"), [""; 0]);
        // What is compiled again must not make them again.
        assert_eq!(compiler::without_rules(rules("-MMD -MF x.d -MP -w -c a.c")), ["-w"]);
        assert!(parse("-MM a.c b.c").unwrap().preprocesses);
    }

    #[test]
    fn the_last_word_about_a_macro_counts() {
        assert_eq!(
            parse("-ULEVEL -DLEVEL=2 -x c -c a.c").unwrap().options.more,
            ["-ULEVEL", "-DLEVEL=2"].map(str::to_owned)
        );
    }

    #[test]
    fn what_is_not_understood_is_named() {
        let message = |line| parse(line).unwrap_err().to_string();
        assert_eq!(message("--bogus a.c"), "`--bogus` is nothing that `cargo xtask cc` understands");
        assert_eq!(message("a.c -o"), "-o has no value");
        assert_eq!(message("-c"), "no file is named that is to be compiled or linked");
    }
}
