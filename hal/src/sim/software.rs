//! What our own software takes, where it has prices: each core's part of it.
//!
//! An operation of the HAL is charged by what it [spends](Expense), in cycles of its core that were measured on the emulated board
//! ([`SoftwarePrices`]). An operation of a protocol is charged when its span begins, once and for each of its peers, and again for each operation of
//! the HAL that it makes itself and not in another span: what it does for a chunk, a round or a line goes with those.

use std::rc::Rc;

use descriptions::{SoftwarePrices, SpanPrice};
use rustc_hash::FxHashMap;

use crate::{
    Span,
    kit::{Expense, Transfer, WordCall},
};

/// Times are in tenths of cycles.
const TENTHS: u64 = 10;

/// What is charged for something, in tenths of cycles, and whether it is an operation of the HAL, for which the span that
/// it is in is charged, too.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Charge {
    tenths: u64,
    is_operation: bool,
}

/// The price list of a machine.
pub(super) struct Prices {
    core_mhz: u64,
    put: [u64; 2],
    put_made: [u64; 2],
    get: [u64; 2],
    get_used: [u64; 2],
    between_mpbs: [u64; 2],
    flag: u64,
    line_load: u64,
    word_load: u64,
    word_store: u64,
    acquire: u64,
    free: u64,
    poll: u64,
    polled_line: u64,
    failed_poll: u64,
    wait_begin: u64,
    wait_end: u64,
    spans: FxHashMap<String, SpanPrice>,
}

impl Prices {
    /// Those that were measured, on cores of this clock.
    pub(super) fn measured(core_mhz: u64) -> Self {
        Self::of(&SoftwarePrices::measured(), core_mhz)
    }

    pub(super) fn of(table: &SoftwarePrices, core_mhz: u64) -> Self {
        let price = |what, part| TENTHS * table.operation(what, part);
        let transfer = |what| [price(what, "call"), price(what, "line")];
        Self {
            core_mhz,
            put: transfer("put"),
            put_made: transfer("put-made"),
            get: transfer("get"),
            get_used: transfer("get-used"),
            between_mpbs: transfer("get-to-mpb"),
            flag: price("flag", "set"),
            line_load: price("line", "load"),
            word_load: price("word", "load"),
            word_store: price("word", "store"),
            acquire: price("register", "acquire"),
            free: price("register", "free"),
            poll: price("poll", "call"),
            polled_line: price("poll", "line"),
            failed_poll: price("poll", "failed"),
            wait_begin: price("wait", "begin"),
            wait_end: price("wait", "end"),
            spans: table.spans().map(|(name, price)| (name.to_owned(), price)).collect(),
        }
    }

    fn charge(&self, expense: Expense) -> Option<Charge> {
        let [operation, part] = [true, false].map(|is_operation| move |tenths| Charge { tenths, is_operation });
        Some(match expense {
            Expense::PutFromMemory => operation(self.put[0]),
            Expense::PutMade => operation(self.put_made[0]),
            Expense::GetToMemory => operation(self.get[0]),
            Expense::GetUsed => operation(self.get_used[0]),
            Expense::PutFromMpb | Expense::GetToMpb => operation(self.between_mpbs[0]),
            Expense::FlagStore => operation(self.flag),
            Expense::LineLoad => operation(self.line_load),
            Expense::WordCall(WordCall::Load) => operation(self.word_load),
            Expense::WordCall(WordCall::Store) => operation(self.word_store),
            Expense::WordCall(WordCall::Acquire) => operation(self.acquire),
            Expense::WordCall(WordCall::Free) => operation(self.free),
            Expense::Line(Transfer::Put) => part(self.put[1]),
            Expense::Line(Transfer::PutMade) => part(self.put_made[1]),
            Expense::Line(Transfer::Get) => part(self.get[1]),
            Expense::Line(Transfer::GetUsed) => part(self.get_used[1]),
            Expense::Line(Transfer::BetweenMpbs) => part(self.between_mpbs[1]),
            _ => return None,
        })
    }
}

/// What the software of one core has been charged, and what it is in.
pub(super) struct Software {
    prices: Rc<Prices>,
    /// What operations of protocols are charged for each operation of the HAL, those that are under way.
    under_way: Vec<u64>,
    /// Whether a program counts now, and what it has counted.
    counts: bool,
    tenths: u64,
    operations: u64,
}

impl Software {
    pub(super) fn new(prices: &Rc<Prices>) -> Self {
        Self { prices: Rc::clone(prices), under_way: Vec::new(), counts: false, tenths: 0, operations: 0 }
    }

    /// Picoseconds that an expense takes.
    pub(super) fn spend(&mut self, expense: Expense) -> u64 {
        self.prices.charge(expense).map_or(0, |charge| self.take(charge))
    }

    /// A wait makes its first poll.
    pub(super) fn polls(&mut self) -> u64 {
        self.take(Charge { tenths: self.prices.poll, is_operation: true })
    }

    /// A poll has looked at a line or a word.
    pub(super) fn looked(&mut self) -> u64 {
        self.take(Charge { tenths: self.prices.polled_line, is_operation: false })
    }

    /// A poll has failed.
    pub(super) fn failed(&mut self) -> u64 {
        self.take(Charge { tenths: self.prices.failed_poll, is_operation: false })
    }

    /// A wait goes on whose first poll has failed.
    pub(super) fn goes_on_waiting(&mut self) -> u64 {
        self.take(Charge { tenths: self.prices.wait_begin, is_operation: false })
    }

    /// Such a wait is over.
    pub(super) fn ends_wait(&mut self) -> u64 {
        self.take(Charge { tenths: self.prices.wait_end, is_operation: false })
    }

    /// An operation begins, of a protocol if it has a span.
    pub(super) fn enter(&mut self, protocol: Option<&Span>) -> u64 {
        let Some(span) = protocol else {
            // The hardware's is one of what it is in.
            self.under_way.push(self.under_way.last().copied().unwrap_or_default());
            return 0;
        };
        let SpanPrice { once, peer, each } = self.prices.spans.get(span.price).copied().unwrap_or_default();
        // Not yet: what it takes for an operation is for those in it.
        let charged = self.take(Charge { tenths: once + peer * span.peers as u64, is_operation: false });
        self.under_way.push(each);
        charged
    }

    /// A handler begins: what it does is in nothing that is under way.
    pub(super) fn enter_handler(&mut self) {
        self.under_way.push(0);
    }

    /// The operation, or the handler, ends that began last.
    pub(super) fn leave(&mut self) {
        self.under_way.pop();
    }

    /// Lets what is charged be counted, or no more; returns the cycles and the operations that were counted so far.
    pub(super) fn count(&mut self, runs: bool) -> (u64, u64) {
        self.counts = runs;
        (self.tenths / TENTHS, self.operations)
    }

    fn take(&mut self, Charge { tenths, is_operation }: Charge) -> u64 {
        let each = if is_operation { self.under_way.last().copied().unwrap_or_default() } else { 0 };
        let tenths = tenths + each;
        if self.counts {
            self.tenths += tenths;
            self.operations += u64::from(is_operation);
        }
        tenths * (1_000_000 / TENTHS) / self.prices.core_mhz
    }
}
