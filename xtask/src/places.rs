//! Functions and lines of the addresses in a guest's reports, on every backend alike.
//!
//! A report says where a core was, and which words of its stack look like return addresses, since images have neither
//! frame pointers nor tables to unwind by. Which of them are is found here: before a return address stands a call, and the
//! function that is called is the one that the address before lies in. A function that was called by a pointer, or left
//! by a jump, is followed by the first word that has any call before it. So a place that is named is a caller that the
//! stack holds the return address of, but not every caller is named.

use crate::{process, workspace};
use anyhow::{Context, Result};
use object::{
    Object, ObjectSection, ObjectSymbol, SymbolKind,
    elf::{FileHeader32, FileHeader64},
    read::elf::{ElfFile, FileHeader},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};
use transcript::finding;

/// Callers that are followed.
const CALLERS: usize = 24;

/// Where a report of the simulator begins to count in a program that it has loaded.
const LOADED: u64 = 1 << 62;

/// What stands between the place and the words of the stack.
const STACK: &str = ", on its stack are";

/// What stands before a place where something was allocated.
const ALLOCATED: &str = ", allocated at ";

/// What stands before a place that the image has no code at.
const OUTSIDE: &str = "was outside the program's code at ";

/// The explainer of one guest's reports.
#[derive(Debug)]
pub(crate) struct Places {
    image: PathBuf,
    /// The program that it loads, if it is a simulator that does.
    loaded: Option<PathBuf>,
    /// The core that was last said to have been somewhere, and where its program was.
    last: Option<(String, String)>,
    /// The first core that was said to run, and where its program is.
    running: Option<String>,
    /// The code of both, once somebody has asked.
    code: Option<Code>,
    /// What was found out about addresses so far: each time takes a process that reads all that is known of the image.
    frames: BTreeMap<u64, Vec<Frame>>,
}

/// An address in a report: the core, what it does there, and the words of its stack.
#[derive(Debug, PartialEq, Eq)]
struct Spot<'a> {
    /// All up to the address.
    start: &'a str,
    core: &'a str,
    place: u64,
    stack: Vec<u64>,
}

impl<'a> Spot<'a> {
    /// Takes `core N was at 0xADDRESS`, `core N runs at 0xADDRESS`, one that was [`OUTSIDE`], with a stack or without, or what a core has
    /// [`ALLOCATED`].
    fn parse(line: &'a str) -> Option<Self> {
        let (core, rest) = line.trim_start().strip_prefix("core ")?.split_once(' ')?;
        core.parse::<u32>().ok()?;
        let begun = ["was at ", "runs at ", OUTSIDE].iter().find_map(|start| rest.strip_prefix(start));
        let rest = begun.or_else(|| Some(rest.split_once(ALLOCATED)?.1))?;
        let start = &line[..line.len() - rest.len() - "at ".len()];
        let (place, stack) = rest.trim_end().split_once(STACK).unwrap_or((rest.trim_end(), ""));
        let stack = stack.split_whitespace().map(address).collect::<Option<_>>()?;
        Some(Self { start, core, place: address(place)?, stack })
    }
}

fn address(word: &str) -> Option<u64> {
    u64::from_str_radix(word.strip_prefix("0x")?, 16).ok()
}

/// A function, or one that is inlined there, and a line of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    function: String,
    file: String,
    line: String,
}

impl Frame {
    /// Whether it belongs to a program, and neither to a library nor to what runs programs.
    pub(crate) fn is_of_program(&self, root: &Path) -> bool {
        if self.is_of_a_library() {
            return false;
        }
        // A crate of the user's may be inside of the workspace, and its name may begin as the workspace's does.
        const OURS: [&str; 4] = ["hal", "collectives", "kernel", "xtask"];
        match Path::new(&self.file).strip_prefix(root) {
            Ok(own) => own.starts_with("kernel/src/programs") || !OURS.iter().any(|ours| own.starts_with(ours)),
            Err(_) => self.file.starts_with('/'),
        }
    }

    /// Whether it belongs to a library that neither the program nor Atoll is.
    fn is_of_a_library(&self) -> bool {
        const LIBRARIES: [&str; 6] =
            ["/library/core/", "/library/alloc/", "/library/std/", "/registry/src/", "/newlib/libc/", "/newlib/libm/"];
        LIBRARIES.iter().any(|library| self.file.contains(library))
    }

    /// Whether it asks for what is below of its own accord: it is neither a library's, nor one of those by which programs
    /// in C do it.
    pub(crate) fn asks_itself(&self, root: &Path) -> bool {
        !self.is_of_a_library() && !Path::new(&self.file).starts_with(root.join("kernel/c/src"))
    }

    fn show(&self, root: &Path) -> String {
        let (place, function) = self.place(root);
        format!("{function} ({place})")
    }

    /// File and line, and the function.
    pub(crate) fn place(&self, root: &Path) -> (String, String) {
        let file = match Path::new(&self.file).strip_prefix(root) {
            Ok(own) => own.display().to_string(),
            Err(_) => workspace::display(Path::new(&self.file)),
        };
        (format!("{file}:{}", self.line), without_types(&self.function))
    }
}

impl From<&Frame> for finding::Frame {
    fn from(frame: &Frame) -> Self {
        let Frame { function, file, line } = frame.clone();
        Self { function, file, line }
    }
}

impl From<&finding::Frame> for Frame {
    fn from(frame: &finding::Frame) -> Self {
        let finding::Frame { function, file, line } = frame;
        Self { function: short(function).into(), file: file.clone(), line: line.clone() }
    }
}

/// A function's name without the types that it was made for, which are its program's and the machine's.
fn without_types(name: &str) -> String {
    let (mut short, mut depth) = (String::new(), 0_usize);
    // A name that begins with a type would begin with nothing.
    let begins_with_type = name.starts_with('<');
    for letter in name.chars() {
        match letter {
            _ if begins_with_type => short.push(letter),
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ if depth == 0 => short.push(letter),
            _ => {}
        }
    }
    short
}

impl Places {
    /// Places of guests that run this image.
    pub(crate) fn new(image: &Path) -> Self {
        let frames = BTreeMap::new();
        Self { image: image.into(), loaded: None, last: None, running: None, code: None, frames }
    }

    /// The places of a guest that loads this program.
    pub(crate) fn loading(self, program: Option<PathBuf>) -> Self {
        Self { loaded: program, ..self }
    }

    /// The first core that ran when all were asked, in words.
    pub(crate) fn running(self) -> Option<String> {
        self.running
    }

    /// A line with functions and lines in place of addresses. A last line that names a core also says where it was.
    pub(crate) fn explain(&mut self, line: String) -> String {
        let mut lines = [line];
        self.explain_all(&mut lines);
        let [line] = lines;
        line
    }

    /// Explains many lines, which is quicker than one by one.
    pub(crate) fn explain_all(&mut self, lines: &mut [String]) {
        let spots: Vec<_> = lines.iter().map(|line| Spot::parse(line)).collect();
        let mut explained = if spots.iter().any(Option::is_some) {
            let known: Vec<_> = spots.iter().flatten().collect();
            self.look_up(&known).unwrap_or_default().into_iter()
        } else {
            Vec::new().into_iter()
        };
        let mut texts = Vec::new();
        for (line, spot) in lines.iter().zip(&spots) {
            texts.push(match spot {
                Some(spot) => {
                    let (text, program) = explained.next().unwrap_or_default();
                    if spot.start.ends_with("runs ")
                        && let Some(program) = &program
                    {
                        self.running.get_or_insert_with(|| format!("core {} runs in {program}", spot.core));
                    }
                    if !spot.start.ends_with(ALLOCATED.trim_end_matches("at ")) {
                        self.last = program.map(|program| (spot.core.to_owned(), program));
                    }
                    if text.is_empty() {
                        format!("{}at {:#x}", spot.start, spot.place)
                    } else {
                        format!("{}{text}", spot.start)
                    }
                }
                None => match self.last.as_ref().filter(|(core, _)| ends(line, core)) {
                    Some((_, program)) => format!("{line}, in {program}"),
                    None => line.clone(),
                },
            });
        }
        for (line, text) in lines.iter_mut().zip(texts) {
            *line = text;
        }
    }

    /// For each spot, in words where it is, and where its program is.
    fn look_up(&mut self, spots: &[&Spot<'_>]) -> Result<Vec<(String, Option<String>)>> {
        let code = match self.code.take() {
            Some(code) => code,
            None => self.read_code()?,
        };
        let paths: Vec<_> = spots.iter().map(|spot| code.path(spot)).collect();
        self.code = Some(code);
        let mut found = Vec::new();
        for (image, base) in self.images() {
            let is_new = |address: &&u64| **address & LOADED == base && !self.frames.contains_key(*address);
            let new: BTreeSet<u64> = paths.iter().flatten().filter(is_new).map(|address| address - base).collect();
            if !new.is_empty() {
                let frames = addresses_of(image, new.into_iter())?;
                found.extend(frames.into_iter().map(|(address, frames)| (address + base, frames)));
            }
        }
        self.frames.extend(found);
        let frames = &self.frames;
        let root = workspace::root();
        let explain = |(spot, path): (&&Spot<'_>, &Vec<u64>)| {
            let of_program =
                |address: &u64| Some((*address, frames.get(address)?.iter().find(|frame| frame.is_of_program(&root))?));
            let program = path.iter().find_map(of_program);
            // Of what is inlined in the program's own function, that is all that matters.
            let here = match program {
                Some((address, program)) if address == spot.place => Some(program),
                _ => frames.get(&spot.place).and_then(|frames| frames.first()),
            };
            let program = program.map(|(_, program)| program);
            let start = here.map_or_else(|| format!("at {:#x}", spot.place), |here| format!("in {}", here.show(&root)));
            let text = match program.filter(|program| Some(*program) != here) {
                Some(program) => format!("{start}, called from {}", program.show(&root)),
                None => start,
            };
            (text, program.map(|program| program.show(&root)))
        };
        Ok(spots.iter().zip(&paths).map(explain).collect())
    }
}

impl Places {
    fn read_code(&self) -> Result<Code> {
        let mut code = Code::default();
        for (image, base) in self.images() {
            code.add(&fs::read(image).context("cannot read the image")?, base)?;
        }
        Ok(code)
    }

    /// The image and what it loads, and where addresses in each begin.
    fn images(&self) -> impl Iterator<Item = (&Path, u64)> {
        [(&*self.image, 0)].into_iter().chain(self.loaded.as_deref().map(|program| (program, LOADED)))
    }
}

/// Whether a line says for the last time that this core has failed.
fn ends(line: &str, core: &str) -> bool {
    let rest = line.strip_prefix("@done failed core ").and_then(|rest| rest.strip_prefix(core));
    rest.is_some_and(|rest| rest.starts_with([':', ' ']))
}

/// The code of an image, and of what it loads.
#[derive(Default, Debug)]
struct Code {
    /// Functions by address: where each ends.
    functions: BTreeMap<u64, u64>,
    /// Addresses and bytes.
    texts: Vec<(u64, Vec<u8>)>,
}

/// What stands before an address.
#[derive(PartialEq, Eq, Debug)]
enum Before {
    /// A call of this address.
    CallOf(u64),
    /// A call by a pointer.
    CallByPointer,
    NoCall,
}

impl Code {
    /// Adds that of a file whose addresses begin at `base`.
    fn add(&mut self, data: &[u8], base: u64) -> Result<()> {
        match data.get(4) {
            Some(class) if *class == object::elf::ELFCLASS64.0 => {
                self.add_as::<FileHeader64<object::Endianness>>(data, base)
            }
            _ => self.add_as::<FileHeader32<object::Endianness>>(data, base),
        }
    }

    fn add_as<H: FileHeader<Endian = object::Endianness>>(&mut self, data: &[u8], base: u64) -> Result<()> {
        let elf: ElfFile<'_, H, &[u8]> = ElfFile::parse(data).context("the image is no ELF file")?;
        let text = elf.section_by_name(".text").context("the image has no code")?;
        let functions = elf.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.size() > 0);
        let ends = |symbol: &object::read::elf::ElfSymbol<'_, '_, H>| symbol.address() + symbol.size();
        self.functions.extend(functions.map(|symbol| (base + symbol.address(), base + ends(&symbol))));
        self.texts.push((base + text.address(), text.data()?.to_vec()));
        Ok(())
    }

    /// The beginning of the function that an address lies in.
    fn function(&self, address: u64) -> Option<u64> {
        let (start, end) = self.functions.range(..=address).next_back()?;
        (address < *end).then_some(*start)
    }

    fn before(&self, address: u64) -> Before {
        let up_to = |(start, bytes): &'_ (u64, Vec<u8>)| {
            let len = usize::try_from(address.checked_sub(*start)?).ok()?;
            (len <= bytes.len()).then_some(len)
        };
        let found = self.texts.iter().find_map(|text| Some(&text.1[..up_to(text)?]));
        let Some(before) = found else { return Before::NoCall };
        if let [.., 0xE8, a, b, c, d] = before {
            let target = address.wrapping_add_signed(i32::from_le_bytes([*a, *b, *c, *d]).into());
            if self.functions.contains_key(&target) {
                return Before::CallOf(target);
            }
        }
        // 0xFF with 2 in the middle of the next byte, which says how many more there are.
        let is_call = |len: usize| {
            let Some([0xFF, mode, rest @ ..]) = before.len().checked_sub(len).map(|at| &before[at..]) else {
                return false;
            };
            let has_sib = mode & 7 == 4 && mode >> 6 != 3;
            let displacement = match (mode >> 6, mode & 7) {
                (0, 5) | (2, _) => 4,
                (1, _) => 1,
                _ => 0,
            };
            mode >> 3 & 7 == 2 && rest.len() == usize::from(has_sib) + displacement
        };
        if (2..=7).any(is_call) { Before::CallByPointer } else { Before::NoCall }
    }

    /// Addresses of a spot and its callers, from the innermost on: of callers, one within the call.
    fn path(&self, spot: &Spot<'_>) -> Vec<u64> {
        let mut path = vec![spot.place];
        let mut inside = self.function(spot.place);
        let mut rest = &spot.stack[..];
        while path.len() < CALLERS {
            let calls = |address: &u64| match self.before(*address) {
                Before::NoCall => false,
                // One whose function is not known may be left by any call.
                Before::CallOf(target) => inside.is_none() || inside == Some(target),
                Before::CallByPointer => inside.is_none(),
            };
            let any = |address: &u64| self.before(*address) != Before::NoCall;
            let Some(next) = rest.iter().position(calls).or_else(|| rest.iter().position(any)) else { break };
            path.push(rest[next] - 1);
            inside = self.function(rest[next] - 1);
            rest = &rest[next + 1..];
        }
        path
    }
}

/// A function without the path to it, which the file tells better.
fn short(name: &str) -> &str {
    let mut depth = 0;
    let mut start = 0;
    for (at, letter) in name.char_indices() {
        match letter {
            '<' => depth += 1,
            '>' => depth -= 1,
            // What comes behind is a function; a closure is said to be one of its function.
            ':' if depth == 0 && !name[at..].starts_with("::{") && !name[at..].starts_with(":{") => start = at + 1,
            _ => {}
        }
    }
    &name[start..]
}

/// Functions and lines at some addresses, from the innermost inlined one on.
fn addresses_of(image: &Path, addresses: impl Iterator<Item = u64>) -> Result<BTreeMap<u64, Vec<Frame>>> {
    let mut command = workspace::command("addr2line");
    command.args(["-a", "-f", "-i", "-C", "-e"]).arg(image).args(addresses.map(|address| format!("{address:#x}")));
    Ok(parse(&process::finish(&mut command, |_| {})?.output))
}

/// Finds out which functions of a program that was loaded stacks mean: the simulator tells addresses of those.
pub(crate) fn find_loaded<'s>(stacks: impl Iterator<Item = &'s mut Vec<finding::Frame>>, program: &Path) -> Result<()> {
    let loaded = |frame: &finding::Frame| address(&frame.file).filter(|_| frame.function.is_empty());
    let stacks: Vec<_> = stacks.collect();
    let all = stacks.iter().flat_map(|stack| stack.iter());
    let addresses: BTreeSet<u64> = all.filter_map(loaded).map(|address| address - LOADED).collect();
    if addresses.is_empty() {
        return Ok(());
    }
    let found = addresses_of(program, addresses.into_iter())?;
    let named = |frame: finding::Frame| match loaded(&frame) {
        None => vec![frame],
        Some(address) => found.get(&(address - LOADED)).into_iter().flatten().map(finding::Frame::from).collect(),
    };
    for stack in stacks {
        *stack = std::mem::take(stack).into_iter().flat_map(named).collect();
    }
    Ok(())
}

/// `addr2line` prints each address, and then two lines for each function there: its name, and its place in the sources.
fn parse(output: &str) -> BTreeMap<u64, Vec<Frame>> {
    let mut frames: BTreeMap<u64, Vec<Frame>> = BTreeMap::new();
    let mut lines = output.lines();
    let mut at = 0;
    while let Some(line) = lines.next() {
        if let Some(address) = address(line.trim()) {
            at = address;
            continue;
        }
        let Some((file, number)) = lines.next().and_then(|place| place.rsplit_once(':')) else { break };
        let number = number.split_whitespace().next().unwrap_or_default();
        if !line.starts_with('?') {
            let frame = Frame { function: short(line.trim()).into(), file: file.into(), line: number.into() };
            frames.entry(at).or_default().push(frame);
        }
    }
    frames
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_do_not_say_for_which_types() {
        for (name, short) in [
            ("loops", "loops"),
            ("passes_time<hal::Core<A<B>>>", "passes_time"),
            ("run<C>::{closure#0}", "run::{closure#0}"),
            ("<A as B<C>>::run", "<A as B<C>>::run"),
        ] {
            assert_eq!(super::without_types(name), short);
        }
    }

    use super::*;

    #[test]
    fn spots_are_taken_apart() {
        let spot = Spot::parse("  core 3 was at 0x1a2b, on its stack are 0x10 0x2c").unwrap();
        assert_eq!(
            (spot.start, spot.core, spot.place, &spot.stack[..]),
            ("  core 3 was ", "3", 0x1a2b, &[0x10, 0x2c][..])
        );
        let spot = Spot::parse("  core 3 was outside the program's code at 0x20, on its stack are 0x10").unwrap();
        assert_eq!((spot.core, spot.place, &spot.stack[..]), ("3", 0x20, &[0x10][..]));
        assert_eq!(Spot::parse("core 14 runs at 0x00101a2b").unwrap().place, 0x10_1a2b);
        let spot = Spot::parse("core 0 has not freed 2 flags, allocated at 0x20").unwrap();
        assert_eq!((spot.start, spot.place), ("core 0 has not freed 2 flags, allocated ", 0x20));
        for line in [
            "core 3 waits for core 2",
            "core x runs at 0x1",
            "core 3 runs at home",
            "core 3 runs at 0x1 now",
            "",
            "core 1",
        ] {
            assert_eq!(Spot::parse(line), None, "{line}");
        }
    }

    #[test]
    fn functions_are_paired_with_addresses() {
        let frames = parse("0x00000010\nspin\n/x/a.rs:7 (discriminator 2)\nmain\n/x/b.rs:9\n0x00000020\n??\n??:0\n");
        let shown: Vec<_> = frames[&0x10].iter().map(|frame| frame.show(Path::new("/x"))).collect();
        assert_eq!(shown, ["spin (a.rs:7)", "main (b.rs:9)"]);
        assert_eq!(frames.len(), 1);
        let beside = Frame { function: "run".into(), file: "/xy/a.rs".into(), line: "3".into() };
        assert!(beside.show(Path::new("/x")).ends_with("xy/a.rs:3)"));
    }

    #[test]
    fn names_are_short() {
        let names = ["main", "tests::fatal::run", "<a::B as c::D>::e", "a::b::{{closure}}", "put<u32, hal::Core>"];
        assert_eq!(names.map(short), ["main", "run", "e", "b::{{closure}}", "put<u32, hal::Core>"]);
    }

    #[test]
    fn programs_are_told_from_what_runs_them() {
        let is = |file: &str| {
            Frame { function: String::new(), file: file.into(), line: String::new() }
                .is_of_program(Path::new("/w/atoll"))
        };
        assert!(
            is("/w/atoll/tests/src/fatal.rs")
                && is("/w/atoll/kernel/src/programs/hello.rs")
                && is("/home/me/ring/src/main.rs")
                && is("/w/atoll-ring/src/main.rs")
                && is("/w/atoll/ring/src/main.rs")
        );
        for other in [
            "/w/atoll/kernel/src/launch/host.rs",
            "/w/atoll/collectives/src/comm/mod.rs",
            "/rustc/1/library/core/src/a.rs",
            "/u/.cargo/registry/src/a/b.rs",
            "/w/atoll/target/guests/guest-1/sources/newlib/libc/string/strcmp.c",
            "??",
        ] {
            assert!(!is(other), "{other}");
        }
    }

    #[test]
    fn callers_are_found_among_the_words_of_a_stack() {
        // At 0x100 a call of 0x110; at 0x110 a function that another one at 0x120 calls by a pointer.
        let mut bytes = vec![0x90; 0x30];
        bytes[..5].copy_from_slice(&[0xE8, 0x0B, 0, 0, 0]);
        bytes[0x20..0x22].copy_from_slice(&[0xFF, 0xD0]);
        let functions = BTreeMap::from([(0x100, 0x110), (0x110, 0x120), (0x120, 0x130)]);
        let code = Code { functions, texts: vec![(0x100, bytes)] };
        assert_eq!(code.before(0x105), Before::CallOf(0x110));
        assert_eq!(code.before(0x122), Before::CallByPointer);
        assert_eq!(code.before(0x113), Before::NoCall);
        let path = |stack: &[u64]| code.path(&Spot { start: "", core: "0", place: 0x112, stack: stack.to_vec() });
        assert_eq!(path(&[0x113, 0x122, 0x105, 0x122]), [0x112, 0x104, 0x121]);
        assert_eq!(path(&[0x122]), [0x112, 0x121]);
        assert_eq!(path(&[]), [0x112]);
    }

    #[test]
    fn lines_without_an_image_stay_readable() {
        let mut places = Places::new(Path::new("/nonexistent"));
        let line = |places: &mut Places, line: &str| places.explain(line.to_owned());
        assert_eq!(line(&mut places, "  core 0 was at 0x10, on its stack are 0x1"), "  core 0 was at 0x10");
        assert_eq!(line(&mut places, "core 1 waits for core 0"), "core 1 waits for core 0");
        places.last = Some(("0".into(), "main (a.rs:1)".into()));
        assert_eq!(line(&mut places, "@done failed core 0: no"), "@done failed core 0: no, in main (a.rs:1)");
        assert_eq!(line(&mut places, "@done failed core 00: no"), "@done failed core 00: no");
        assert_eq!(line(&mut places, "@done failed core 1: no"), "@done failed core 1: no");
    }
}
