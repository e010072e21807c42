//! What our own software takes, where it has prices: each core's part of it.
//!
//! An operation of the HAL is charged by what it [spends](Expense), in cycles of its core that were measured on the emulated board
//! ([`SoftwarePrices`]). An operation of a protocol is charged for its span, once, for each of its peers and for each of its lines, and again for each operation of
//! the HAL that it makes itself and not in another span: what it does for a chunk, a round or a line goes with those. Half of what it is
//! charged for its span is due when that begins, and half when it ends, while what it has stored last is on its way.

use std::rc::Rc;

use descriptions::{SoftwarePrices, SpanPrice};
use rustc_hash::FxHashMap;

use crate::{
    LINE_BYTES, Span,
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

/// An operation that is under way: what it is charged for each operation of the HAL, and when it ends; and whether it has a price, or is in
/// one that has.
#[derive(Clone, Copy, Default)]
struct UnderWay {
    each: u64,
    end: u64,
    is_priced: bool,
}

/// What the software of one core has been charged, and what it is in.
pub(super) struct Software {
    prices: Rc<Prices>,
    under_way: Vec<UnderWay>,
    /// Whether a program counts now, and what it has counted.
    counts: bool,
    tenths: u64,
    operations: u64,
    lines: u64,
}

impl Software {
    pub(super) fn new(prices: &Rc<Prices>) -> Self {
        Self { prices: Rc::clone(prices), under_way: Vec::new(), counts: false, tenths: 0, operations: 0, lines: 0 }
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
            self.under_way.push(UnderWay { end: 0, ..self.last() });
            return 0;
        };
        let price = self.prices.spans.get(span.price);
        let is_in_priced = self.last().is_priced;
        let lines = span.bytes.div_ceil(LINE_BYTES) as u64;
        if self.counts && price.is_some() && !is_in_priced {
            self.lines += lines;
        }
        let SpanPrice { once, peer, each, line } = price.copied().unwrap_or_default();
        let tenths = once + peer * span.peers as u64 + line * lines;
        self.under_way.push(UnderWay { each, end: tenths / 2, is_priced: is_in_priced || price.is_some() });
        self.take(Charge { tenths: tenths - tenths / 2, is_operation: false })
    }

    /// A handler begins: what it does is in nothing that is under way.
    pub(super) fn enter_handler(&mut self) {
        self.under_way.push(UnderWay::default());
    }

    /// The operation, or the handler, ends that began last.
    pub(super) fn leave(&mut self) -> u64 {
        let ended = self.under_way.pop().unwrap_or_default();
        self.take(Charge { tenths: ended.end, is_operation: false })
    }

    /// The operation that began last.
    fn last(&self) -> UnderWay {
        self.under_way.last().copied().unwrap_or_default()
    }

    /// Lets what is charged be counted, or no more; returns the cycles, the operations of the HAL, and the lines of spans with prices, outermost ones, that
    /// were counted so far.
    pub(super) fn count(&mut self, runs: bool) -> [u64; 3] {
        self.counts = runs;
        [self.tenths / TENTHS, self.operations, self.lines]
    }

    fn take(&mut self, Charge { tenths, is_operation }: Charge) -> u64 {
        let tenths = if is_operation { tenths + self.last().each } else { tenths };
        if self.counts {
            self.tenths += tenths;
            self.operations += u64::from(is_operation);
        }
        tenths * (1_000_000 / TENTHS) / self.prices.core_mhz
    }
}
