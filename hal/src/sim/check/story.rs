//! A run told as a story: who did what in which order, around the bytes that matter.
//!
//! It takes two runs that are the same: the first one finds out which lines matter if no finding says so, the second one looks at
//! what happens to them.

use std::{collections::VecDeque, fmt};

use rustc_hash::FxHashSet;

use crate::{CoreId, LINE_BYTES, LineAddress, SharedAddress, kit::Event, kit::mask_of};

use super::{
    super::Deviation,
    Checker,
    finding::{Where, bytes},
    shadow::lines_of,
    stacks::{Captured, Frame, Symbols},
};

/// Accesses that are told at most: the last ones.
const MOST_ACCESSES: usize = 10;

/// Deviations that are told at most: the first ones.
const MOST_DEVIATIONS: usize = 6;

/// Lines that a core has loaded last, which matter where it goes wrong.
const LAST_LINES: usize = 3;

/// What the story is about.
#[derive(Clone, Debug)]
pub(in crate::sim) enum About {
    /// A finding: that with this number.
    Finding(usize),
    /// What these cores have loaded last.
    LoadedBy(Vec<CoreId>),
    /// What these cores wait for: a register, or where they have looked last.
    AwaitedBy(Vec<(CoreId, Option<CoreId>)>),
}

/// A step of a story.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// When, in virtual time.
    pub time_ps: u64,
    /// How often in a row.
    pub times: u32,
    /// Who.
    pub core: CoreId,
    /// What it does, as the predicate of a sentence about the core.
    pub what: String,
    /// Operations of protocols that it is part of, from the outermost on.
    pub spans: String,
    /// Where it is, from the innermost function on.
    pub frames: Vec<Frame>,
}

/// One line with fields between tabs, for tools: time, how often; then `A`, core, what it does and spans, and for each function `F`, its
/// name, file and line.
impl fmt::Display for Step {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { time_ps, times, core, what, spans, frames } = self;
        write!(out, "{time_ps}\t{times}\tA\t{}\t{what}\t{spans}", core.index())?;
        frames.iter().try_for_each(|frame| write!(out, "\t{frame}"))
    }
}

/// A step that was noted.
struct Noted {
    /// Counts steps.
    number: u64,
    core: usize,
    times: u32,
    what: String,
    captured: Captured,
}

/// What is noted of a run for its story.
#[derive(Default)]
pub(super) struct Notes {
    /// Of each core, the lines that it has loaded last, the last one behind.
    loaded: Vec<VecDeque<u64>>,
    /// The lines that matter.
    lines: FxHashSet<u64>,
    number: u64,
    accesses: VecDeque<Noted>,
    deviations: Vec<Noted>,
    /// What was found has happened: what comes later does not belong to it.
    is_over: bool,
}

impl Checker {
    /// Notes what each core loads last.
    pub(in crate::sim) fn listening(mut self) -> Self {
        let loaded = vec![VecDeque::new(); self.cores.len()];
        self.notes = Some(Box::new(Notes { loaded, ..Notes::default() }));
        self
    }

    /// The checker of the same run made once more, which notes the story of that.
    pub(in crate::sim) fn telling(&self, about: &About) -> Self {
        let mut again = Self { left_out: self.left_out.clone(), ..Self::new(&self.layout).silent() };
        let loaded = self.notes.as_ref().map(|notes| &notes.loaded);
        let lines: Vec<u64> = match about {
            About::Finding(number) => {
                let raw = self.raw.get(*number);
                again.wanted = raw.iter().flat_map(|raw| [Some(raw.here), raw.other]).flatten().collect();
                raw.iter()
                    .filter_map(|raw| if let Where::Line { key, .. } = raw.place { Some(key) } else { None })
                    .collect()
            }
            About::LoadedBy(cores) => {
                cores.iter().filter_map(|core| loaded?.get(core.index())).flatten().copied().collect()
            }
            About::AwaitedBy(cores) => {
                let last = |core: &CoreId| loaded?.get(core.index())?.back().copied();
                cores.iter().filter_map(|(core, awaited)| awaited.map(of_register).or_else(|| last(core))).collect()
            }
        };
        again.notes = Some(Box::new(Notes { lines: lines.into_iter().collect(), ..Notes::default() }));
        again
    }

    /// The number of the first finding of this one's kind and places.
    pub(in crate::sim) fn number_of(&self, again: &Self, wanted: &super::Finding) -> Option<usize> {
        (0..self.raw.len()).find(|number| {
            let named = super::finding::name(&self.raw[*number..=*number], &again.captured);
            named.first().is_some_and(|finding| finding.is_like(wanted))
        })
    }

    /// Something begins to be different from the plain run.
    pub(in crate::sim) fn deviates(&mut self, core: CoreId, now_ps: u64, deviation: &Deviation) {
        let spans = self.cores[core.index()].spans.clone();
        let Some(notes) = &mut self.notes else { return };
        notes.number += 1;
        if notes.deviations.len() < MOST_DEVIATIONS && !notes.is_over {
            let captured = Captured::of(now_ps, &spans, "");
            let (number, core, what) = (notes.number, core.index(), deviation.what());
            notes.deviations.push(Noted { number, core, times: 1, what, captured });
        }
    }

    /// Notes an event for the story, if it belongs there.
    pub(super) fn note(&mut self, core: usize, now_ps: u64, event: &Event) {
        let combining = self.cores[core].combining.as_ref().map(|(key, stores)| {
            let mask = stores.iter().fold(0, |mask, store| mask | store.mask);
            (*key, mask)
        });
        let touched = touched(event, combining);
        let Some(notes) = &mut self.notes else { return };
        if let Some(loaded) = notes.loaded.get_mut(core)
            && matches!(event, Event::Load { .. } | Event::LoadWord(_) | Event::View { .. } | Event::Acquired(_))
        {
            for (key, _) in touched {
                loaded.retain(|line| *line != key);
                loaded.push_back(key);
                if loaded.len() > LAST_LINES {
                    loaded.pop_front();
                }
            }
            return;
        }
        let lines = &notes.lines;
        let Some((key, mask)) = touched.into_iter().find(|(key, _)| lines.contains(key)) else { return };
        if notes.is_over {
            return;
        }
        let what = match event {
            Event::Acquired(register) => format!("takes the test-and-set register of {register}"),
            Event::Freed(register) => format!("frees the test-and-set register of {register}"),
            _ => format!("{}, {}", super::stacks::what(event), bytes(key, mask)),
        };
        self.note_step(core, now_ps, what);
    }

    /// A core fails, which is a step of the story, too.
    pub(in crate::sim) fn fails(&mut self, core: CoreId, now_ps: u64, what: &str) {
        self.note_step(core.index(), now_ps, format!("fails: {what}"));
    }

    /// Notes a step.
    pub(super) fn note_step(&mut self, core: usize, now_ps: u64, what: String) {
        let Some(notes) = self.notes.as_mut().filter(|notes| !notes.is_over && notes.loaded.is_empty()) else { return };
        // It ends with the accesses that are at odds.
        notes.is_over = !self.wanted.is_empty() && self.captured.len() == self.wanted.len();
        let captured = Captured::of(now_ps, &self.cores[core].spans, "");
        if let Some(last) = notes.accesses.back_mut()
            && last.core == core
            && last.what == what
            && last.captured.is_where(&captured)
        {
            last.times += 1;
            return;
        }
        notes.number += 1;
        notes.accesses.push_back(Noted { number: notes.number, core, times: 1, what, captured });
        if notes.accesses.len() > MOST_ACCESSES {
            notes.accesses.pop_front();
        }
    }

    /// The story that was noted.
    pub(in crate::sim) fn story(&self) -> Vec<Step> {
        let Some(notes) = &self.notes else { return Vec::new() };
        let mut symbols = Symbols::default();
        let mut all: Vec<_> = notes.deviations.iter().chain(&notes.accesses).collect();
        all.sort_by_key(|noted| (noted.captured.now_ps, noted.number));
        let step = |noted: &&Noted| Step {
            time_ps: noted.captured.now_ps,
            times: noted.times,
            core: CoreId::new(noted.core),
            what: noted.what.clone(),
            spans: noted.captured.spans.clone(),
            frames: noted.captured.frames(&mut symbols),
        };
        all.iter().map(step).collect()
    }
}

/// Stands for a register among lines.
fn of_register(register: CoreId) -> u64 {
    REGISTERS | register.index() as u64
}

/// No line has so high a number.
const REGISTERS: u64 = 1 << 62;

/// Lines that an event touches, and which bytes.
fn touched(event: &Event, combining: Option<(u64, u32)>) -> Vec<(u64, u32)> {
    let whole = |at: &SharedAddress| vec![(LineAddress::Shared(*at).key(), u32::MAX)];
    match event {
        Event::Load { at, mask, .. } | Event::Store { at, mask } => vec![(at.key(), *mask)],
        Event::Fill(at) => vec![(at.key(), u32::MAX)],
        Event::PushedOut => combining.into_iter().collect(),
        Event::LoadWord(at) | Event::StoreWord(at) => {
            vec![(LineAddress::Shared(*at).key(), mask_of(at.offset() % LINE_BYTES, 4))]
        }
        Event::View { start, len, .. } => {
            lines_of(*start, *len).map(|(line, mask)| (LineAddress::Shared(line).key(), mask)).collect()
        }
        Event::Acquired(register) | Event::Freed(register) => vec![(of_register(*register), u32::MAX)],
        Event::Fetched(at) => whole(at),
        Event::WrittenBack { at, changed } if *changed != 0 => vec![(LineAddress::Shared(*at).key(), *changed)],
        _ => Vec::new(),
    }
}
