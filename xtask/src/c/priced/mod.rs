//! Computation in C takes virtual time: what is compiled for the simulator says what it would take on a P54C.
//!
//! A file is compiled for both sides, and at each block of what is for the simulator a number of cycles is added up (`atoll_spent`,
//! `system/c/spent.c`): those of the blocks of the P54C that do the same. Each load and store that may miss L1 is told to a model
//! of the caches there. So the assembly that the compiler writes is priced, after all that it optimises, and nothing is optimised
//! otherwise because of it. What such code may clobber between instructions is `%r11` and the flags, where nobody needs them.

mod accesses;
mod assembly;
mod flow;
mod matching;
mod target;

use self::{accesses::Access, assembly::Function, flow::Ways, matching::Charge, target::Cost};
use anyhow::Result;
use std::{collections::HashMap, path::Path};

/// What the compiler is told for the simulator's side: a register that it leaves alone, nothing below the stack pointer, and no
/// instructions that the P54C has nothing like.
pub(super) const FLAGS: [&str; 5] =
    ["-ffixed-r11", "-mno-red-zone", "-fno-tree-vectorize", "-fno-if-conversion", "-fno-if-conversion2"];

/// The assembly of a file for the simulator, with what it would take on a P54C, whose assembly of the same file is given. Files that are made
/// meanwhile have the name `beside`, and kinds of their own.
pub(super) fn priced(own: &str, p54c: &str, compiler: &Path, beside: &Path) -> Result<String> {
    let (functions, counterparts) = (assembly::functions(own), assembly::functions(p54c));
    let costs = target::costs(p54c, &counterparts, compiler, beside)?;
    let cycles: Vec<_> = costs.iter().map(|cost| cost.cycles).collect();
    let charges = matching::charges(&functions, &counterparts, &cycles);
    Ok(written(own, &functions, &charges, &costs))
}

/// The assembly with what is to be executed before its instructions.
fn written(text: &str, functions: &[Function<'_>], charges: &[Charge], costs: &[Cost]) -> String {
    let mut before: HashMap<usize, String> = HashMap::new();
    let mut charges = charges.iter();
    for function in functions {
        let ways = Ways::of(function);
        let needed = ways.need_flags(function);
        for (number, block) in function.blocks.iter().enumerate() {
            if let (Some(line), Some(charge)) = (block.line, charges.next()) {
                let before = before.entry(line).or_default();
                before.push_str(&spend(charge));
                for cost in
                    charge.counterparts.iter().map(|counterpart| costs[*counterpart]).filter(|cost| cost.len > 0)
                {
                    before.push_str(&fetch(cost, needed[number]));
                }
            }
            for (place, instruction) in block.instructions.iter().enumerate() {
                if let Some(access) = accesses::of(instruction) {
                    let needs_flags = ways.needs_flags(function, &needed, number, place);
                    before.entry(instruction.line).or_default().push_str(&tell(access, needs_flags));
                }
            }
        }
    }
    let mut written = String::with_capacity(2 * text.len());
    for (number, line) in text.lines().enumerate() {
        written.extend(before.get(&number).map(String::as_str));
        written.push_str(line);
        written.push('\n');
    }
    let code_bytes = costs.iter().map(|cost| cost.start + cost.len).max().unwrap_or(0);
    written + &format!("\t.section\t.bss.atoll_code,\"aw\",@nobits\n\t.balign\t16\n{CODE}:\n\t.zero\t{code_bytes}\n")
}

/// Memory as long as the file's code for the P54C, which nobody touches: what is there stands for that code in its caches.
const CODE: &str = ".Latoll_code";

/// Tells of the lines that a block is fetched from.
fn fetch(Cost { start, len, .. }: Cost, needs_flags: bool) -> String {
    let saving = saving(needs_flags);
    format!("\tmovl\t${len}, atoll_fetched(%rip)\n\tleaq\t{CODE}+{start}(%rip), %r11\n\tcall\tatoll_fetch{saving}\n")
}

/// The end of the name of a function that leaves the flags as they are, if they are needed.
fn saving(needs_flags: bool) -> &'static str {
    if needs_flags { "_saving_flags" } else { "" }
}

/// Adds up cycles, in 16ths, without a change of flags.
fn spend(charge: &Charge) -> String {
    let add = |to: &str, cycles: f64| {
        let sixteenths = (cycles * 16.0).round() as i64;
        if sixteenths == 0 {
            return String::new();
        }
        format!("\tmovq\t{to}(%rip), %r11\n\tleaq\t{sixteenths}(%r11), %r11\n\tmovq\t%r11, {to}(%rip)\n")
    };
    add("atoll_spent", charge.cycles) + &add("atoll_estimated", charge.estimated)
}

/// Tells of an access.
fn tell(access: Access<'_>, needs_flags: bool) -> String {
    let (address, function) = match access {
        Access::Load(operand) => (operand.to_owned(), "atoll_load"),
        Access::Store(operand) => (operand.to_owned(), "atoll_store"),
        Access::StoreTwo(operand) => (operand.to_owned(), "atoll_store_two"),
        Access::Move(unit) => (format!("(,%rcx,{unit})"), "atoll_move"),
        Access::Fill(unit) => (format!("(,%rcx,{unit})"), "atoll_fill"),
    };
    let saving = saving(needs_flags);
    format!("\tleaq\t{address}, %r11\n\tcall\t{function}{saving}\n")
}
