//! What the compiler writes with `-S`: functions and their blocks, and of which places in the source their instructions are.

use std::collections::{HashMap, HashSet};

/// A place in the source, as the compiler notes it: the same of both sides for the same expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Place<'t> {
    /// A file without its directory, line, column, and which of the blocks there.
    Source(&'t str, u32, u32, u32),
    /// A call of a function.
    Call(&'t str),
}

/// An instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Instruction<'t> {
    /// Number of its line.
    pub(super) line: usize,
    /// Without its operands.
    pub(super) name: &'t str,
    pub(super) operands: &'t str,
    /// It is carried out as often as `%rcx` says, at most.
    pub(super) repeats: bool,
}

/// Instructions that are executed one after the other: up to a label, behind a jump or a call.
#[derive(Clone, Debug, Default)]
pub(super) struct Block<'t> {
    pub(super) labels: Vec<&'t str>,
    /// The line that it begins before.
    pub(super) line: Option<usize>,
    pub(super) instructions: Vec<Instruction<'t>>,
    pub(super) places: HashSet<Place<'t>>,
    /// The program's own assembly is in it, which is left alone.
    pub(super) is_foreign: bool,
}

/// A function, or a part of one.
#[derive(Clone, Debug)]
pub(super) struct Function<'t> {
    pub(super) name: &'t str,
    pub(super) blocks: Vec<Block<'t>>,
}

impl<'t> Function<'t> {
    /// The name in the source: the compiler puts a dot and more behind those of parts and copies.
    pub(super) fn source_name(&self) -> &'t str {
        self.name.split('.').next().unwrap_or_default()
    }
}

/// How an instruction goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow<'t> {
    /// To the next one.
    On,
    /// To the next one, when a function has returned.
    Call,
    /// There or to the next one.
    Maybe(&'t str),
    /// There.
    Jump(&'t str),
    /// Somewhere: it returns, or jumps by a table.
    Away,
}

impl<'t> Instruction<'t> {
    fn new(line: usize, text: &'t str) -> Self {
        let (mut name, mut operands) = text.split_once(['\t', ' ']).unwrap_or((text, ""));
        let repeats = name.starts_with("rep");
        // A prefix.
        while ["rep", "repe", "repz", "repne", "repnz", "lock", "notrack", "bnd"].contains(&name)
            && let Some((next, rest)) = operands.trim().split_once(['\t', ' ']).or(Some((operands.trim(), "")))
            && !next.is_empty()
        {
            (name, operands) = (next, rest);
        }
        Self { line, name, operands: operands.trim(), repeats }
    }

    pub(super) fn flow(&self) -> Flow<'t> {
        let to = self.operands;
        match self.name {
            "jmp" if to.starts_with(".L") => Flow::Jump(to),
            "call" => Flow::Call,
            "ud2" | "hlt" => Flow::Away,
            name if name.starts_with("jmp") || name.starts_with("ret") => Flow::Away,
            name if name.starts_with('j') || name.starts_with("loop") => Flow::Maybe(to),
            _ => Flow::On,
        }
    }

    /// The function that it calls or goes on in, by its name.
    fn called(&self) -> Option<&'t str> {
        let name = self.operands.split('@').next().unwrap_or_default();
        (["call", "jmp"].contains(&self.name) && !name.starts_with(['*', '.'])).then_some(name)
    }
}

/// The functions of a file.
pub(super) fn functions(text: &str) -> Vec<Function<'_>> {
    let mut reader = Reader::default();
    for (number, line) in text.lines().enumerate() {
        reader.take(number, line);
    }
    reader.functions
}

#[derive(Default)]
struct Reader<'t> {
    functions: Vec<Function<'t>>,
    files: HashMap<&'t str, &'t str>,
    names: HashSet<&'t str>,
    sections_of_code: HashSet<&'t str>,
    is_code: bool,
    is_foreign: bool,
    place: Option<Place<'t>>,
    /// The next instruction begins a block.
    is_over: bool,
}

impl<'t> Reader<'t> {
    fn take(&mut self, number: usize, line: &'t str) {
        match line {
            "#APP" => return self.foreign(number, true),
            "#NO_APP" => return self.foreign(number, false),
            _ if line.starts_with('#') => return,
            _ => {}
        }
        if let Some(label) = line.strip_suffix(':').filter(|_| !line.starts_with(['\t', ' '])) {
            return self.label(label);
        }
        let text = line.trim();
        match text.split_once(['\t', ' ']).unwrap_or((text, "")) {
            ("", _) => {}
            (".loc", words) => self.locate(words),
            (".file", words) => {
                if let Some((number, path)) = words.split_once(' ') {
                    let name = path.trim_end_matches('"').rsplit(['/', '"']).next().unwrap_or_default();
                    self.files.insert(number, name);
                }
            }
            (".type", words) => {
                if let Some((name, "@function")) = words.split_once(", ") {
                    self.names.insert(name);
                }
            }
            (".text", _) => self.is_code = true,
            (".data" | ".bss", _) => self.is_code = false,
            (".section", words) => self.section(words),
            (directive, _) if directive.starts_with('.') => {}
            _ => self.instruction(Instruction::new(number, text)),
        }
    }

    /// Where the compiler comes back to a section, it does not repeat what that is.
    fn section(&mut self, words: &'t str) {
        let mut words = words.split(',');
        let name = words.next().unwrap_or_default();
        let is_code = words.next().map(|flags| flags.contains('x'));
        if is_code == Some(true) {
            self.sections_of_code.insert(name);
        }
        self.is_code = is_code.unwrap_or_else(|| name.starts_with(".text") || self.sections_of_code.contains(name));
    }

    fn foreign(&mut self, number: usize, is_foreign: bool) {
        self.is_foreign = is_foreign;
        let place = self.place;
        if let Some(block) = self.block() {
            block.is_foreign = true;
            block.line.get_or_insert(number);
            block.places.extend(place);
        }
    }

    fn label(&mut self, label: &'t str) {
        if !self.is_code || self.is_foreign {
            return;
        }
        if self.names.contains(label) {
            self.functions.push(Function { name: label, blocks: vec![Block::default()] });
            (self.place, self.is_over) = (None, false);
        } else if label.strip_prefix(".L").is_some_and(|number| number.parse::<u32>().is_ok())
            && let Some(function) = self.functions.last_mut()
        {
            if function.blocks.last().is_none_or(|block| !block.instructions.is_empty() || block.is_foreign) {
                function.blocks.push(Block::default());
            }
            self.is_over = false;
            if let Some(block) = self.block() {
                block.labels.push(label);
            }
        }
    }

    fn locate(&mut self, words: &'t str) {
        let mut words = words.split(' ');
        let file = words.next().and_then(|number| self.files.get(number)).copied().unwrap_or_default();
        let mut number = || words.next().and_then(|word| word.parse().ok()).unwrap_or(0);
        let (line, column) = (number(), number());
        let is_discriminator = |word: &&str| *word == "discriminator";
        let discriminator = words.by_ref().skip_while(|word| !is_discriminator(word)).nth(1);
        let discriminator = discriminator.and_then(|word| word.parse().ok()).unwrap_or(0);
        self.place = Some(Place::Source(file, line, column, discriminator));
    }

    fn instruction(&mut self, instruction: Instruction<'t>) {
        if !self.is_code || self.is_foreign {
            return;
        }
        let place = self.place;
        let Some(function) = self.functions.last_mut() else { return };
        if std::mem::take(&mut self.is_over) {
            function.blocks.push(Block::default());
        }
        let Some(block) = function.blocks.last_mut() else { return };
        block.line.get_or_insert(instruction.line);
        block.instructions.push(instruction);
        block.places.extend(place);
        block.places.extend(instruction.called().map(Place::Call));
        self.is_over = instruction.flow() != Flow::On;
    }

    fn block(&mut self) -> Option<&mut Block<'t>> {
        self.functions.last_mut()?.blocks.last_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\t.text\n\t.file 1 \"/x/a.c\"\n\t.section\t.text.f,\"ax\",@progbits\n\t.type\tf, @function\nf:\n.LFB0:\n\t.loc 1 3 9 is_stmt 1 view .LVU1\n\t.cfi_startproc\n\ttestl\t%edi, %edi\n\tje\t.L2\n\t.loc 1 4 2 discriminator 2 view .LVU2\n\tcall\tg@PLT\n\trep stosq\n#APP\n# 5 \"a.c\" 1\n\tnop\n#NO_APP\n.L2:\n\tret\n\t.section\t.rodata\n.L9:\n\t.long\t3\n";

    #[test]
    fn blocks_and_places() {
        let read = functions(TEXT);
        assert_eq!((read.len(), read[0].source_name()), (1, "f"));
        let blocks = &read[0].blocks;
        let names: Vec<Vec<_>> = blocks
            .iter()
            .map(|block| block.instructions.iter().map(|instruction| instruction.name).collect())
            .collect();
        assert_eq!(names, [vec!["testl", "je"], vec!["call"], vec!["stosq"], vec!["ret"]]);
        assert_eq!(blocks[0].places, HashSet::from([Place::Source("a.c", 3, 9, 0)]));
        assert_eq!(blocks[1].places, HashSet::from([Place::Source("a.c", 4, 2, 2), Place::Call("g")]));
        assert_eq!([0, 1, 2, 3].map(|number: usize| blocks[number].is_foreign), [false, false, true, false]);
        assert_eq!(blocks[0].instructions[1].flow(), Flow::Maybe(".L2"));
        assert_eq!(blocks[3].labels, [".L2"]);
    }

    #[test]
    fn code_is_found_in_any_section() {
        let text = "\t.section\tfast,\"ax\",@progbits\n\t.type\tf, @function\nf:\n\tret\n\t.section\t.rodata.x,\"a\"\n\t.long\t3\n\t.section\tfast\n\t.type\tg, @function\ng:\n\tnop\n\tret\n";
        let read = functions(text);
        let counts: Vec<_> = read.iter().map(|function| function.blocks[0].instructions.len()).collect();
        assert_eq!(counts, [1, 2]);
    }
}
