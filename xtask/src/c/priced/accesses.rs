//! Which instructions load or store what caches may miss.

use super::assembly::Instruction;

/// What an instruction does in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access<'t> {
    /// It loads from this operand, and may store there.
    Load(&'t str),
    /// It stores there.
    Store(&'t str),
    /// It stores eight bytes there, as two words.
    StoreTwo(&'t str),
    /// It moves as many units of this size, in bytes, as `%rcx` says.
    Move(u32),
    /// It fills as many units of this size, in bytes, as `%rcx` says.
    Fill(u32),
}

/// Instructions that compute addresses only, or move what is on the stack.
const NO_ACCESS: [&str; 8] = ["lea", "nop", "prefetch", "push", "pop", "call", "jmp", "fnstcw"];

/// What stores doubles.
const EIGHT_BYTES: [&str; 4] = ["fstl", "fstpl", "movsd", "movlpd"];

/// The access of an instruction, but to constants and to single variables of its frame, which are always in L1.
pub(super) fn of<'t>(instruction: &Instruction<'t>) -> Option<Access<'t>> {
    let name = instruction.name;
    match (name, instruction.operands) {
        ("movsb" | "movsw" | "movsl" | "movsq", "") if instruction.repeats => return Some(Access::Move(unit(name))),
        ("stosb" | "stosw" | "stosl" | "stosq", "") if instruction.repeats => return Some(Access::Fill(unit(name))),
        _ => {}
    }
    if NO_ACCESS.iter().any(|other| name.starts_with(other)) || name == "fldcw" {
        return None;
    }
    let operands = split(instruction.operands);
    let (place, operand) =
        operands.iter().enumerate().find(|(_, operand)| operand.ends_with(')') && !operand.starts_with(['*', '%']))?;
    let is_constant = operand.starts_with(".LC");
    let is_of_frame = operand.ends_with("(%rsp)") || operand.ends_with("(%rbp)") && operand.starts_with('-');
    if is_constant || is_of_frame {
        return None;
    }
    let is_last = place + 1 == operands.len();
    Some(match is_last && only_stores(name, operands.len()) {
        true if EIGHT_BYTES.contains(&name) => Access::StoreTwo(operand),
        true => Access::Store(operand),
        false => Access::Load(operand),
    })
}

fn unit(name: &str) -> u32 {
    match name.as_bytes().last() {
        Some(b'b') => 1,
        Some(b'w') => 2,
        Some(b'l') => 4,
        _ => 8,
    }
}

/// Operands, which commas part that are not in brackets.
fn split(operands: &str) -> Vec<&str> {
    let (mut found, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, letter) in operands.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                found.push(operands[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(operands[start..].trim());
    found
}

/// Whether an instruction whose last operand is in memory does not read that.
fn only_stores(name: &str, operands: usize) -> bool {
    let starts = |starts: &[&str]| starts.iter().any(|start| name.starts_with(start));
    if operands == 1 {
        return starts(&["fst", "fist", "set", "fbstp"]);
    }
    starts(&["mov"]) || name.starts_with("set")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c::priced::assembly::functions;

    #[test]
    fn accesses_of_instructions() {
        let all = [
            ("movl\t(%rax), %ecx", Some(Access::Load("(%rax)"))),
            ("movq\t%rax, a+8(%rip)", Some(Access::Store("a+8(%rip)"))),
            ("addl\t$1, 4(%rax,%rcx,8)", Some(Access::Load("4(%rax,%rcx,8)"))),
            ("flds\t(%rsp,%rax,4)", Some(Access::Load("(%rsp,%rax,4)"))),
            ("fstpl\t-8(%rdx)", Some(Access::StoreTwo("-8(%rdx)"))),
            ("fstps\t-8(%rdx)", Some(Access::Store("-8(%rdx)"))),
            ("cmpl\t$3, x(%rip)", Some(Access::Load("x(%rip)"))),
            ("incl\t(%rdi)", Some(Access::Load("(%rdi)"))),
            ("rep movsq", Some(Access::Move(8))),
            ("rep stosl", Some(Access::Fill(4))),
            ("movsw", None),
            ("movsbl\t(%rdi), %eax", Some(Access::Load("(%rdi)"))),
            ("fldl\t8(%rsp)", None),
            ("flds\t.LC3(%rip)", None),
            ("leaq\t8(%rax), %rcx", None),
            ("call\t*8(%rax)", None),
            ("movl\t%eax, %ecx", None),
        ];
        for (text, expected) in all {
            let file = format!("\t.text\n\t.type\tf, @function\nf:\n\t{text}\n");
            let read = functions(&file);
            assert_eq!(of(&read[0].blocks[0].instructions[0]), expected, "{text}");
        }
    }
}
