//! What a machine that checks programs is told of MPI: which memory of the program an operation uses, and how long; what ranks learn
//! from each other by messages `collectives` tells.

use alloc::vec::Vec;

use kernel::hal::{
    Act, Core, CoreId,
    act::{Channel, Part, Target},
};

use super::{
    collective::{
        blocks::Block,
        native::is_of_all,
        plan::{Blocks, Kind, Plan, Root},
    },
    datatypes::Flat,
    messages::{Form, Message, Mode, Peer},
    state::{Here, Mpi},
};

/// A number that no context and no window has, for operations of all ranks.
const OF_ALL: u64 = u64::MAX;

/// Where values are from an address on: offsets and lengths.
pub(super) fn pieces(flat: &Flat, count: usize) -> Vec<(i64, usize)> {
    let mut pieces: Vec<(i64, usize)> = Vec::new();
    flat.pieces(0..(flat.size() * count) as i64, |offset, len| match pieces.last_mut() {
        Some((first, before)) if *first + *before as i64 == offset => *before += len as usize,
        _ => pieces.push((offset, len as usize)),
    });
    pieces
}

impl<C: Core> Mpi<'_, C> {
    pub(super) fn is_checked(&self) -> bool {
        self.world.hal().is_checked()
    }

    pub(super) fn declare(&self, act: &Act<'_>) {
        self.world.hal().declare(act);
    }

    /// The core of a rank of all.
    pub(super) fn core_of(&self, rank: usize) -> CoreId {
        self.world.core_of(rank)
    }

    /// Something with a request, which has this number, is over.
    pub(super) fn declare_end(&self, number: Option<u64>) {
        if let Some(number) = number {
            self.declare(&Act::Ends(number));
        }
    }
}

impl<C: Core> Here<'_, '_, '_, C> {
    /// The memory of a program's values, which are watched from now on.
    fn parts(&self, block: &Block, writes: bool) -> Vec<Part> {
        let pieces = pieces(block.datatype.flat(), block.count).into_iter();
        let parts = pieces.map(|(offset, len)| {
            let start = block.address.addr().wrapping_add_signed(offset as isize);
            Part { bytes: start..start + len, writes }
        });
        parts.collect()
    }

    /// A call reads or writes values of the program, and is over when it returns.
    pub(super) fn declare_use(&self, block: &Block, writes: bool, what: &'static str) {
        if self.is_checked() {
            for Part { bytes, .. } in self.parts(block, writes) {
                self.declare(&Act::Access { bytes: (bytes.start, bytes.len()), stores: writes, what });
            }
        }
    }

    /// An operation is under way from now on, which reads or writes these values. Returns its number for its request, by which
    /// its [end](Mpi::declare_end) is declared; none if nothing checks the program.
    pub(super) fn declare_begin(
        &self,
        what: &'static str,
        own: &[(&Block, bool)],
        target: Option<Target<'_>>,
    ) -> Option<u64> {
        if !self.is_checked() {
            return None;
        }
        let own: Vec<_> = own.iter().flat_map(|(block, writes)| self.parts(block, *writes)).collect();
        own.iter().for_each(|part| self.session.watched.add(part.bytes.start, part.bytes.len()));
        let number = self.declared.operations.get() + 1;
        self.declared.operations.set(number);
        self.declare(&Act::Begins { number, what, own: &own, target });
        Some(number)
    }

    /// Memory of this rank is part of a window from now on.
    pub(super) fn declare_memory(&self, window: u32, owner: usize, (start, len): (usize, usize), unit: Option<usize>) {
        self.session.watched.add(start, len);
        self.declare(&Act::Exposes { window: window.into(), owner: self.core_of(owner), bytes: (start, len), unit });
    }

    /// A call sends or receives a message.
    pub(super) fn declare_message_use(&self, message: &Message) {
        if message.peer != Peer::Nobody {
            let receives = message.mode == Mode::Receive;
            self.declare_use(&message.block, receives, if receives { "receives a message" } else { "sends a message" });
        }
    }

    /// A message is under way from now on, if it is not over at once. Returns its number.
    pub(super) fn declare_message_begin(&self, message: &Message) -> Option<u64> {
        let receives = message.mode == Mode::Receive;
        if message.mode == Mode::Buffered || message.peer == Peer::Nobody {
            self.declare_message_use(message);
            None
        } else {
            let what = if receives { "begins to receive a message" } else { "begins to send a message" };
            self.declare_begin(what, &[(&message.block, receives)], None)
        }
    }

    /// A message is sent, and another one received, which may take its place. Returns the number of what is under way then.
    pub(super) fn declare_exchange(&self, send: &Message, receive: &Message, form: Form) -> Option<u64> {
        if form == Form::Nonblocking {
            // Where the one takes the place of the other, nobody else uses it meanwhile.
            self.declare_begin("begins to exchange messages", &[(&send.block, false), (&receive.block, true)], None)
        } else {
            self.declare_message_use(send);
            self.declare_message_use(receive);
            None
        }
    }

    /// Values that an operation of all ranks reads and writes.
    fn values_of(plan: &Plan) -> Vec<(Block, bool)> {
        let peers = plan.neighbours.as_ref().map_or(plan.comm.peers().size(), |_| 0);
        let all = |blocks: &Option<Blocks>, is_divided: bool, writes: bool| -> Vec<(Block, bool)> {
            let blocks = match blocks {
                None => Vec::new(),
                Some(Blocks::Each(all)) => all.clone(),
                Some(Blocks::Alike(first)) => {
                    alloc::vec![first.at(0, first.count * if is_divided { peers } else { 1 })]
                }
            };
            blocks.into_iter().map(|block| (block, writes)).collect()
        };
        let is_root = plan.root == Root::Here;
        let (sends, receives) = match plan.kind {
            Kind::Broadcast => return all(&plan.receives, false, !is_root),
            Kind::Gather | Kind::Allgather => (all(&plan.sends, false, false), all(&plan.receives, true, true)),
            Kind::Scatter => (all(&plan.sends, true, false), all(&plan.receives, false, true)),
            Kind::Alltoall => (all(&plan.sends, true, false), all(&plan.receives, true, true)),
            Kind::ReduceScatter => {
                // Each rank has its own part at the beginning.
                let own = plan
                    .receives
                    .as_ref()
                    .and_then(|parts| Some(parts.first().ok()?.at(0, parts.get(plan.comm.rank).count)));
                // In place, all the operands are read there.
                let operands = if plan.is_in_place { plan.all_results().ok() } else { None };
                let receives = operands.map(|block| (block, false)).into_iter().chain(own.map(|block| (block, true)));
                (all(&plan.sends, false, false), receives.collect())
            }
            _ => (all(&plan.sends, false, false), all(&plan.receives, false, true)),
        };
        let receives = if plan.kind == Kind::Reduce && !is_root { Vec::new() } else { receives };
        [sends, receives].concat()
    }

    /// A call of an operation of all ranks uses its values.
    pub(super) fn declare_collective_use(&self, plan: &Plan) {
        if self.is_checked() {
            for (block, writes) in Self::values_of(plan) {
                self.declare_use(
                    &block,
                    writes,
                    if writes { "receives by an operation of all" } else { "sends by an operation of all" },
                );
            }
        }
    }

    /// An operation of all ranks is under way from now on. Returns its number.
    pub(super) fn declare_collective_begin(&self, plan: &Plan) -> Option<u64> {
        if !self.is_checked() {
            return None;
        }
        let values = Self::values_of(plan);
        let values: Vec<_> = values.iter().map(|(block, writes)| (block, *writes)).collect();
        self.declare_begin("begins an operation of all", &values, None)
    }

    /// Does an operation of all ranks that `collectives` carries out, if it is one. Who comes before whom is by what it says, not
    /// by how it is done.
    pub(super) fn declare_order<R>(&self, plan: &Plan, action: impl FnOnce() -> Option<R>) -> Option<R> {
        if !self.is_checked() || !is_of_all(plan, self.world) {
            return action();
        }
        let place: Channel = [OF_ALL, 0, self.declared.collectives.get()];
        self.declared.collectives.set(place[2] + 1);
        let (is_root, ranks) = (plan.root == Root::Here, self.world.size());
        let (tells, hears) = match plan.kind {
            Kind::Broadcast => (is_root, (!is_root).then_some(ranks - 1)),
            Kind::Reduce => (true, is_root.then_some(1)),
            _ => (true, Some(ranks)),
        };
        if tells {
            self.declare(&Act::Tells(place));
        }
        let result = action()?;
        if let Some(of) = hears {
            self.declare(&Act::Hears { place, of });
        }
        Some(result)
    }
}
