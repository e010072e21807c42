//! What blocks take on a P54C: its assembly is assembled once more, with a symbol at each block, and priced as the board's emulator does.

use super::assembly::{Flow, Function, Instruction};
use crate::c;
use anyhow::{Context, Result};
use iced_x86::{Decoder, DecoderOptions};
use object::{Object, ObjectSection, ObjectSymbol, SectionIndex};
use p54c::timing;
use std::{
    collections::{BTreeMap, HashMap},
    fs,
    path::Path,
};

/// What the code is for.
const BITS: u32 = 32;

/// What the symbols of blocks begin with.
const SYMBOL: &str = "atoll_block.";

/// What a block is on a P54C.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Cost {
    pub(super) cycles: f64,
    /// Where it begins in the code of the file, and how many bytes it has.
    pub(super) start: u64,
    pub(super) len: u64,
}

/// How code of sections is aligned.
const ALIGNMENT: u64 = 16;

/// What each block is, function by function.
pub(super) fn costs(text: &str, functions: &[Function<'_>], compiler: &Path, beside: &Path) -> Result<Vec<Cost>> {
    let blocks: Vec<_> = functions.iter().flat_map(|function| &function.blocks).collect();
    let mut at_lines: HashMap<usize, Vec<usize>> = HashMap::new();
    for (number, block) in blocks.iter().enumerate() {
        at_lines.entry(block.line.unwrap_or(usize::MAX)).or_default().push(number);
    }
    let mut marked = String::with_capacity(2 * text.len());
    for (number, line) in text.lines().enumerate() {
        for block in at_lines.get(&number).into_iter().flatten() {
            marked.push_str(&format!("{SYMBOL}{block}:\n"));
        }
        marked.push_str(line);
        marked.push('\n');
    }
    let [source, made] = ["s", "o"].map(|kind| beside.with_extension(kind));
    fs::write(&source, marked)?;
    c::step(c::tool(compiler).args(["-m32", "-c"]).arg(&source).arg("-o").arg(&made), "assemble what is priced")?;
    let bytes = fs::read(&made)?;
    let object = object::File::parse(&*bytes).context("what was assembled is damaged")?;
    // Of each section, where blocks begin.
    let mut places: BTreeMap<usize, Vec<(u64, usize)>> = BTreeMap::new();
    for symbol in object.symbols() {
        if let Some(number) = symbol.name().ok().and_then(|name| name.strip_prefix(SYMBOL)?.parse().ok())
            && let Some(section) = symbol.section_index()
        {
            places.entry(section.0).or_default().push((symbol.address(), number));
        }
    }
    let (mut costs, mut sections_start) = (vec![Cost::default(); blocks.len()], 0);
    for (section, mut places) in places {
        places.sort_unstable();
        let section = object.section_by_index(SectionIndex(section))?;
        let code = section.data()?;
        for (index, (start, number)) in places.iter().enumerate() {
            let end = places.get(index + 1).map_or(code.len() as u64, |(next, _)| *next);
            let bytes = &code[*start as usize..end as usize];
            let block = blocks[*number];
            let goes_on = block
                .instructions
                .last()
                .is_none_or(|last| !matches!(Instruction::flow(last), Flow::Jump(_) | Flow::Away));
            // What aligns the next block is executed on the way there.
            let count = if goes_on || block.is_foreign { usize::MAX } else { block.instructions.len() };
            let decoder = Decoder::new(BITS, bytes, DecoderOptions::NONE).into_iter();
            let len = decoder.take(count).map(|instruction| instruction.len()).sum();
            costs[*number] = Cost {
                cycles: timing::cost(bytes, len, *start as u32, BITS).cycles.into(),
                start: sections_start + start,
                len: len as u64,
            };
        }
        sections_start = (sections_start + code.len() as u64).next_multiple_of(ALIGNMENT);
    }
    Ok(costs)
}
