//! Where control goes in a function: how deep in loops its blocks are, and where flags are needed.

use super::assembly::{Block, Flow, Function, Instruction};
use std::collections::HashMap;

/// The ways between the blocks of a function.
pub(super) struct Ways {
    next: Vec<Vec<usize>>,
    /// Whether a block may go on where nobody knows: in another part of the function, or by a table.
    leaves: Vec<bool>,
}

impl Ways {
    pub(super) fn of(function: &Function) -> Self {
        let blocks = &function.blocks;
        let mut places = HashMap::new();
        for (number, block) in blocks.iter().enumerate() {
            places.extend(block.labels.iter().map(|label| (*label, number)));
        }
        let next = |(number, block): (usize, &Block<'_>)| {
            let following = (number + 1 < blocks.len()).then_some(number + 1);
            let (falls, to) = match block.instructions.last().map_or(Flow::On, Instruction::flow) {
                Flow::On | Flow::Call => (true, None),
                Flow::Maybe(to) => (true, Some(to)),
                Flow::Jump(to) => (false, Some(to)),
                Flow::Away => (false, None),
            };
            following.filter(|_| falls).into_iter().chain(to.and_then(|to| places.get(to).copied())).collect()
        };
        let leaves = |block: &Block<'_>| {
            block.instructions.last().is_some_and(|last| match last.flow() {
                Flow::Maybe(to) | Flow::Jump(to) => !places.contains_key(to),
                Flow::Away => last.name.starts_with("jmp") && last.operands.starts_with('*'),
                Flow::On | Flow::Call => false,
            })
        };
        Self { next: blocks.iter().enumerate().map(next).collect(), leaves: blocks.iter().map(leaves).collect() }
    }

    /// In how many loops each block is.
    pub(super) fn depths(&self) -> Vec<u32> {
        let count = self.next.len();
        let mut before = vec![Vec::new(); count];
        for (from, next) in self.next.iter().enumerate() {
            next.iter().for_each(|to| before[*to].push(from));
        }
        let order = self.order();
        let mut place = vec![usize::MAX; count];
        order.iter().enumerate().for_each(|(at, block)| place[*block] = at);
        let dominator = Self::dominators(&order, &place, &before);
        let dominates = |one: usize, mut other: usize| {
            while other != one && dominator[other] != other {
                other = dominator[other];
            }
            other == one
        };
        let mut loops: HashMap<usize, Vec<bool>> = HashMap::new();
        for &from in &order {
            for &head in self.next[from].iter().filter(|head| dominates(**head, from)) {
                let inside = loops.entry(head).or_insert_with(|| vec![false; count]);
                inside[head] = true;
                let mut found = vec![from];
                while let Some(block) = found.pop() {
                    if !std::mem::replace(&mut inside[block], true) {
                        found.extend(before[block].iter().filter(|before| place[**before] != usize::MAX));
                    }
                }
            }
        }
        (0..count).map(|block| loops.values().filter(|inside| inside[block]).count() as u32).collect()
    }

    /// The blocks that can be reached, each before those that it leads to, but for loops.
    fn order(&self) -> Vec<usize> {
        let (mut order, mut seen) = (Vec::new(), vec![false; self.next.len()]);
        // What tables lead to is reached from nowhere else.
        for start in 0..self.next.len() {
            let mut under_way = vec![(start, 0)];
            if std::mem::replace(&mut seen[start], true) {
                continue;
            }
            while let Some((block, taken)) = under_way.last_mut() {
                match self.next[*block].get(*taken) {
                    Some(to) => {
                        *taken += 1;
                        if !std::mem::replace(&mut seen[*to], true) {
                            under_way.push((*to, 0));
                        }
                    }
                    None => {
                        order.push(*block);
                        under_way.pop();
                    }
                }
            }
        }
        order.reverse();
        order
    }

    /// For each block the one through which all ways to it lead; itself where there is none.
    fn dominators(order: &[usize], place: &[usize], before: &[Vec<usize>]) -> Vec<usize> {
        let mut dominator = vec![usize::MAX; place.len()];
        let meet = |dominator: &[usize], mut one: usize, mut other: usize| {
            while one != other {
                while place[one] > place[other] {
                    if dominator[one] == one {
                        return None;
                    }
                    one = dominator[one];
                }
                while place[other] > place[one] {
                    if dominator[other] == other {
                        return None;
                    }
                    other = dominator[other];
                }
            }
            Some(one)
        };
        let mut changes = true;
        while std::mem::take(&mut changes) {
            for &block in order {
                let mut known = before[block].iter().copied().filter(|before| dominator[*before] != usize::MAX);
                let first = known.next();
                let met = first.and_then(|first| known.try_fold(first, |one, other| meet(&dominator, one, other)));
                let met = met.unwrap_or(block);
                changes |= std::mem::replace(&mut dominator[block], met) != met;
            }
        }
        dominator
    }

    /// For each block whether whoever comes there may still need flags that were set before.
    pub(super) fn need_flags(&self, function: &Function) -> Vec<bool> {
        let own: Vec<_> = function.blocks.iter().map(|block| need(&block.instructions)).collect();
        let mut needed: Vec<_> = own.iter().map(|own| *own == Some(true)).collect();
        let mut changes = true;
        while std::mem::take(&mut changes) {
            for block in (0..needed.len()).rev() {
                if own[block].is_none() && !needed[block] && self.needs_behind(&needed, block) {
                    (needed[block], changes) = (true, true);
                }
            }
        }
        needed
    }

    /// Whether flags are needed before the instruction with this number in a block.
    pub(super) fn needs_flags(&self, function: &Function, needed: &[bool], block: usize, instruction: usize) -> bool {
        need(&function.blocks[block].instructions[instruction..]).unwrap_or_else(|| self.needs_behind(needed, block))
    }

    /// Whether flags are needed where a block goes on.
    fn needs_behind(&self, needed: &[bool], block: usize) -> bool {
        self.leaves[block] || self.next[block].iter().any(|next| needed[*next])
    }
}

/// Whether the first instruction that has to do with flags reads them; nothing if there is none.
fn need(instructions: &[Instruction]) -> Option<bool> {
    instructions.iter().find_map(|instruction| {
        let name = instruction.name;
        let starts = |starts: &[&str]| starts.iter().any(|start| name.starts_with(start));
        if starts(&["set", "cmov", "fcmov", "adc", "sbb", "rcl", "rcr", "pushf", "lahf", "cmc", "loop"])
            || name.starts_with('j') && !name.starts_with("jmp")
        {
            return Some(true);
        }
        let writes = [
            "add", "sub", "and", "or", "xor", "cmp", "test", "neg", "call", "ret", "comis", "ucomis", "fcomi", "fucomi",
        ];
        // Those for vectors have the same beginnings, and leave flags alone.
        let is_of_vectors = ["addp", "adds", "subp", "subs", "andp", "andn", "orp", "xorp", "cmpp"];
        (starts(&writes) && !(starts(&is_of_vectors) || name == "cmpsd" || name == "cmpss")).then_some(false)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c::priced::assembly::functions;

    fn function(body: &str) -> Function<'_> {
        functions(body).remove(0)
    }

    #[test]
    fn loops_within_loops() {
        // A loop in a loop, and a block out of the way that jumps back into the outer one.
        let text = "\t.text\n\t.type\tf, @function\nf:\n\tnop\n.L1:\n\tnop\n\tje\t.L9\n.L2:\n\tnop\n\tjne\t.L2\n.L3:\n\tnop\n\tjne\t.L1\n\tret\n.L9:\n\tnop\n\tjmp\t.L3\n";
        let function = function(text);
        assert_eq!(Ways::of(&function).depths(), [0, 1, 2, 1, 0, 1]);
    }

    #[test]
    fn flags_are_needed_until_they_are_read() {
        let text = "\t.text\n\t.type\tf, @function\nf:\n\tcmpl\t$1, %edi\n\tmovl\t(%rax), %ecx\n\tje\t.L1\n\tjl\t.L1\n\tmovl\t(%rax), %ecx\n\tadcl\t$1, %eax\n.L1:\n\tmovl\t(%rax), %ecx\n\tret\n";
        let function = function(text);
        let ways = Ways::of(&function);
        let needed = ways.need_flags(&function);
        assert_eq!(needed, [false, true, true, false]);
        assert!(ways.needs_flags(&function, &needed, 0, 1) && !ways.needs_flags(&function, &needed, 0, 0));
        assert!(!ways.needs_flags(&function, &needed, 3, 0) && ways.needs_flags(&function, &needed, 2, 0));
    }

    #[test]
    fn flags_are_needed_where_nobody_knows() {
        for (jump, expected) in [("*%rdx", true), ("*.L4(,%rax,8)", true), (".L7", true), ("g", false), (".L1", false)]
        {
            let text = format!(
                "\t.text\n\t.type\tf, @function\nf:\n.L1:\n\tcmpl\t$1, %edi\n\tmovl\t(%rax), %ecx\n\tjmp\t{jump}\n"
            );
            let function = function(&text);
            let ways = Ways::of(&function);
            let needed = ways.need_flags(&function);
            assert_eq!(ways.needs_flags(&function, &needed, 0, 1), expected, "{jump}");
        }
    }
}
