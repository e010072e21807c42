//! Links programs.

use super::{
    Sources,
    compiler::{self, Side},
    is_c,
    library::Library,
    objects,
};
use crate::{
    process::{self, Account},
    setup::{CTools as HostTools, Tools},
    workspace,
};
use anyhow::{Context, Result, bail};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

/// Where an image begins: the only symbol that others see.
const ENTRY: &str = "atoll_start";

/// What a program begins with. Some makefiles have it in an archive, like all that is a program's own.
const MAIN: &str = "main";

/// Functions of the C library that `watch.c` looks into, where a program is checked.
const WATCHED: [&str; 26] = [
    "memcpy", "memmove", "memset", "memcmp", "memchr", "strlen", "strnlen", "strcpy", "stpcpy", "strncpy", "strcat",
    "strncat", "strcmp", "strncmp", "strchr", "strrchr", "strstr", "atoi", "atol", "atof", "strtol", "strtoul",
    "strtod", "qsort", "_write", "_read",
];

/// Builds a program for the simulator.
pub(crate) fn for_simulator(sources: &Sources, tools: &HostTools) -> Result<PathBuf> {
    let library = Library::ensure(Side::Simulator, tools)?;
    let p54c = sources.options.priced.then(|| Library::ensure(Side::P54c, tools)).transpose()?;
    let scratch = workspace::scratch()?;
    let own = own(&library, p54c.as_ref(), sources, scratch.path())?;
    let made = scratch.path().join("program");
    for_host(&library, &own, &made, if sources.options.checked { &WATCHED } else { &[] })?;
    keep(&made, sources, "simulator")
}

/// Links a program's own object with its libraries, for the simulator; some functions are others', which know them as
/// `__real_NAME`.
pub(super) fn for_host(library: &Library, own: &Path, made: &Path, wrapped: &[&str]) -> Result<()> {
    let mut command = super::tool(&library.compiler.path);
    command.args(["-nostdlib", "-static-pie", "-g"]);
    let options =
        ["-z,muldefs", "-z,noexecstack", "-z,max-page-size=4096", "--gc-sections", "--eh-frame-hdr", "--build-id=none"];
    command.args(options.map(|option| format!("-Wl,{option}")));
    command.args(wrapped.iter().map(|name| format!("-Wl,--wrap={name}")));
    command.arg(format!("-Wl,-e,{ENTRY},-u,{ENTRY}")).arg("-o").arg(made).arg(own);
    command.arg("-Wl,--start-group").args(&library.archives).args(["-lgcc", "-Wl,--end-group"]);
    link(command.arg(&library.end_of_frames))
}

/// Makes one object of all that is a program's own. What it has twice is an error there; what it has beside a library is its
/// own. With the P54C's library, it is priced by that side.
///
/// # Errors
/// When something does not compile, or is there twice.
pub(super) fn own(
    library: &Library,
    priced_by: Option<&Library>,
    sources: &Sources,
    directory: &Path,
) -> Result<PathBuf> {
    let objects = compile_all(library, priced_by, sources, directory)?;
    let own = directory.join("own.o");
    together(&library.compiler.path, library.compiler.side, &objects, &own)?;
    Ok(own)
}

/// Makes one object of others, and of the members of archives that these want, or that have `main` or what it wants.
fn together(compiler: &Path, side: Side, objects: &[PathBuf], made: &Path) -> Result<()> {
    let mut command = super::tool(compiler);
    command.args(compiler::of_side(side)).args(["-nostdlib", "-r", "-o"]).arg(made);
    command.arg(format!("-Wl,-u,{MAIN}"));
    link(command.arg("-Wl,--start-group").args(objects).arg("-Wl,--end-group"))
}

/// Builds an image: links a program with the archive of the Rust side by a linker script.
pub(crate) fn for_p54c(
    sources: &Sources,
    c_tools: &HostTools,
    archive: &Path,
    script: &Path,
    tools: &Tools,
) -> Result<PathBuf> {
    let library = Library::ensure(Side::P54c, c_tools)?;
    let scratch = workspace::scratch()?;
    let own = own(&library, None, sources, scratch.path())?;
    let [whole, image] = ["whole.o", "image"].map(|name| scratch.path().join(name));
    let ld = || {
        let mut command = super::tool(&tools.linker);
        command.args(["-m", "elf_i386", "-z", "noexecstack"]);
        command
    };
    let mut command = ld();
    command.args(["-r", "-d", "--gc-sections", "-z", "muldefs", "-e", ENTRY, "-u", ENTRY, "-T"]);
    command.arg(workspace::root().join("kernel/c/program.ld")).arg("-o").arg(&whole).arg(&own);
    link(command.arg("--start-group").args(&library.archives).arg("--end-group"))?;
    // What Rust calls as C does, memcpy for one, is Rust's own, and no name of the program's can get in its way.
    let mut command = super::tool("objcopy");
    link(command.arg(format!("--keep-global-symbol={ENTRY}")).arg(&whole))?;
    let content = fs::read(script).with_context(|| format!("cannot read {}", workspace::display(script)))?;
    let mut command = ld();
    command.args(["-static", "--build-id=none", "--gc-sections"]).arg(format!("-T{}", script.display()));
    command.arg(format!("--defsym=linker_script_checksum={:#010x}", crc32fast::hash(&content)));
    link(command.arg("-o").arg(&image).arg(&whole).arg(archive))?;
    keep(&image, sources, &script.file_stem().unwrap_or_default().to_string_lossy())
}

/// The objects of all files: those in C are compiled, several at a time.
fn compile_all(
    library: &Library,
    priced_by: Option<&Library>,
    sources: &Sources,
    directory: &Path,
) -> Result<Vec<PathBuf>> {
    let object = |(index, file): (usize, &PathBuf)| {
        if is_c(file) {
            Ok(directory.join(format!("{index}.o")))
        } else {
            objects::of_side((index, file), library.compiler.side, directory)
        }
    };
    let objects = sources.files.iter().enumerate().map(object).collect::<Result<Vec<_>>>()?;
    let next = AtomicUsize::new(0);
    let work = || {
        while let index = next.fetch_add(1, Ordering::Relaxed)
            && let Some(file) = sources.files.get(index)
        {
            let (compiler, options, object) = (&library.compiler, &sources.options, &objects[index]);
            match priced_by {
                _ if !is_c(file) => {}
                Some(by) => compiler::compile_priced([compiler, &by.compiler], file, options, object)?,
                None => compiler::compile(compiler, file, options, object)?,
            }
        }
        anyhow::Ok(())
    };
    let workers = thread::available_parallelism().map_or(1, usize::from).min(sources.files.len());
    let account = Account::of_this_thread();
    thread::scope(|scope| {
        let threads: Vec<_> = (0..workers).map(|_| scope.spawn(|| account.keep_for(work))).collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().unwrap_or_else(|_| bail!("the compiler's thread has panicked")))
    })?;
    Ok(objects)
}

/// Runs a linker; what it misses is shown.
fn link(command: &mut Command) -> Result<()> {
    let finished = process::finish(command, |_| {})?;
    if finished.status.success() {
        return Ok(());
    }
    eprint!("{}", finished.messages);
    let is_reason = |line: &&str| line.contains("undefined reference") || line.contains("multiple definition");
    let first = finished.messages.lines().find(is_reason).or(finished.messages.lines().next());
    bail!("cannot link: {}", first.unwrap_or("no reason given"))
}

/// Moves a program to where others of its name leave it alone.
fn keep(made: &Path, sources: &Sources, side: &str) -> Result<PathBuf> {
    let executable = kept(sources, side);
    let directory = executable.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(directory).with_context(|| format!("cannot create {}", workspace::display(directory)))?;
    super::keep(made, &executable)?;
    Ok(executable)
}

/// Where a program is kept for a side: the stem of its linker script's name, for an image.
pub(crate) fn kept(sources: &Sources, side: &str) -> PathBuf {
    let name = format!("{}-{:016x}-{side}", sources.name(), sources.checksum());
    workspace::target().join("c").join("programs").join(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use object::{Object, ObjectSymbol};

    /// Functions that are in an object made of an archive, each member of which has one of these lines of C.
    fn taken(lines: &[&str]) -> Vec<String> {
        let directory = tempfile::tempdir().unwrap();
        let place = |name: &str| directory.path().join(name);
        let object = |(number, line): (usize, &&str)| {
            let [file, object] = ["c", "o"].map(|end| place(&format!("{number}.{end}")));
            fs::write(&file, line).unwrap();
            let mut compiler = super::super::tool("gcc");
            compiler.args(["-c", "-w"]).args(compiler::of_side(Side::Simulator)).arg(file).arg("-o").arg(&object);
            link(&mut compiler).unwrap();
            object
        };
        let objects: Vec<_> = lines.iter().enumerate().map(object).collect();
        let [archive, made] = ["libown.a", "own.o"].map(place);
        link(super::super::tool("ar").arg("rcsD").arg(&archive).args(objects)).unwrap();
        together(Path::new("gcc"), Side::Simulator, &[archive], &made).unwrap();
        let bytes = fs::read(made).unwrap();
        let file = object::File::parse(&*bytes).unwrap();
        let defined = file.symbols().filter(|symbol| symbol.is_definition() && symbol.is_global());
        let mut names: Vec<_> = defined.map(|symbol| symbol.name().unwrap().to_owned()).collect();
        names.sort();
        names
    }

    /// HPCC's makefile links nothing but archives.
    #[test]
    fn a_program_may_be_all_in_an_archive() {
        let helper = "int helper(void) { return 1; }";
        let unused = "int unused(void) { return 2; }";
        assert_eq!(
            taken(&[helper, unused, "int helper(void); int main(void) { return helper(); }"]),
            ["helper", "main"]
        );
        assert_eq!(taken(&[helper]), [""; 0]);
    }
}
