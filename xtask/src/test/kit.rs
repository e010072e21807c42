//! What tests run: images, the simulator, the emulator. Each is built when somebody first asks for it, and once.

use super::arguments::{Arguments, Stage};
use crate::{
    build::{self, Built},
    c, emulator,
    guest::Outcome,
    image::{self, Profile},
    kernel_line::KernelLine,
    loading,
    program::Program,
    setup::{self, CTools, DiskTools, EmulatorTools, Tools},
    workspace,
};
use anyhow::{Context, Result, anyhow};
use std::{
    collections::{BTreeMap, HashMap, hash_map::Entry},
    fs,
    path::PathBuf,
    sync::{Mutex, OnceLock, PoisonError},
    time::Duration,
};

/// Something that is made once, for all that ask for it; so is the reason why it cannot be made.
struct Once<T>(OnceLock<Result<T, String>>);

impl<T> Once<T> {
    const fn new() -> Self {
        Self(OnceLock::new())
    }

    fn get(&self, make: impl FnOnce() -> Result<T>) -> Result<&T> {
        let made = self.0.get_or_init(|| make().map_err(|error| format!("{error:#}")));
        made.as_ref().map_err(|error| anyhow!("{error}"))
    }
}

fn of<'k, T>(all: &'k BTreeMap<String, Once<T>>, program: &Program) -> Result<&'k Once<T>> {
    all.get(&program.binary).with_context(|| format!("no test runs the image {}", program.binary))
}

/// All of it.
pub(super) struct Kit<'t> {
    pub(super) arguments: &'t Arguments,
    tools: Once<Tools>,
    emulator_tools: Once<EmulatorTools>,
    disk_tools: Once<DiskTools>,
    /// Images for QEMU and PCs, for boards, and the same for the host, by the names of binaries.
    images: BTreeMap<String, Once<Built>>,
    board_images: BTreeMap<String, Once<Vec<u8>>>,
    simulators: BTreeMap<String, Once<Built>>,
    emulator: Once<Built>,
    main_job: Once<Outcome>,
    c_tools: Once<CTools>,
    /// Programs in C for the simulator, by all that they are compiled of and with.
    c_programs: Mutex<HashMap<c::Sources, PathBuf>>,
}

impl<'t> Kit<'t> {
    pub(super) fn new(arguments: &'t Arguments) -> Self {
        /// One for each image that tests run.
        fn of_each<T>() -> BTreeMap<String, Once<T>> {
            let programs = Program::of_each_image().into_iter().chain([Program::integration(), Program::c_programs()]);
            programs.map(|program| (program.binary, Once::new())).collect()
        }
        Self {
            arguments,
            tools: Once::new(),
            emulator_tools: Once::new(),
            disk_tools: Once::new(),
            images: of_each(),
            board_images: of_each(),
            simulators: of_each(),
            emulator: Once::new(),
            main_job: Once::new(),
            c_tools: Once::new(),
            c_programs: Mutex::default(),
        }
    }

    /// Finds, or installs, all that these stages need.
    pub(super) fn prepare_all(&self, stages: &[Stage]) -> Result<()> {
        if stages.iter().any(|stage| [Stage::Sim, Stage::Qemu, Stage::Board].contains(stage)) {
            c::tools(self.arguments.yes)?;
        }
        self.prepare(stages)
    }

    /// Finds, or installs, what these stages are built with and run in, but for programs in C.
    pub(super) fn prepare(&self, stages: &[Stage]) -> Result<()> {
        for stage in stages {
            if [Stage::Qemu, Stage::Board, Stage::Pc].contains(stage) {
                self.tools()?;
            }
            match stage {
                Stage::Board => _ = self.emulator_tools()?,
                Stage::Pc => _ = self.disk_tools()?,
                Stage::Host | Stage::Sim | Stage::Qemu => {}
            }
        }
        Ok(())
    }

    /// The processor time that a guest may use for a test.
    pub(super) fn limit(&self) -> Duration {
        self.arguments.limit()
    }

    /// What images are built with and run in.
    pub(super) fn tools(&self) -> Result<&Tools> {
        self.tools.get(|| setup::ensure(self.arguments.yes))
    }

    /// What the emulator is built with.
    pub(super) fn emulator_tools(&self) -> Result<&EmulatorTools> {
        self.emulator_tools.get(|| setup::ensure(self.arguments.yes))
    }

    /// What disks are made with.
    pub(super) fn disk_tools(&self) -> Result<&DiskTools> {
        self.disk_tools.get(|| setup::ensure(self.arguments.yes))
    }

    /// What programs in C are built with, and the libraries that they are linked with, which take minutes to be built the first time.
    pub(super) fn c_tools(&self) -> Result<&CTools> {
        self.c_tools.get(|| {
            let tools = c::tools(self.arguments.yes)?;
            build::on_account("the libraries of programs in C", || c::prepare(&tools))?;
            Ok(tools)
        })
    }

    /// The image of a program.
    pub(super) fn image(&self, program: &Program) -> Result<&Built> {
        of(&self.images, program)?.get(|| image::bare_metal(program, self.tools()?))
    }

    /// The image of a program for boards, which counts, and is a debugger's, too.
    pub(super) fn board_image(&self, program: &Program) -> Result<&[u8]> {
        let made = of(&self.board_images, program)?.get(|| {
            let path = image::board(program, self.tools()?, image::Besides { is_observed: true, announces: false })?
                .executable;
            fs::read(&path).with_context(|| format!("cannot read {}", workspace::display(&path)))
        });
        made.map(Vec::as_slice)
    }

    /// A program for the host.
    pub(super) fn simulator(&self, program: &Program) -> Result<&Built> {
        of(&self.simulators, program)?.get(|| image::host(program, Profile::Release))
    }

    /// Words with which the simulator of programs in C loads this one.
    pub(super) fn loading(&self, program: &Program, words: KernelLine) -> Result<KernelLine> {
        let sources = program.c.as_ref().with_context(|| format!("{} is no program in C", program.name))?;
        let mut built = self.c_programs.lock().unwrap_or_else(PoisonError::into_inner);
        let image = match built.entry(sources.clone()) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(c::for_simulator(sources, self.c_tools()?)?),
        };
        Ok(loading::words_of_file(words, image))
    }

    /// The emulator of boards.
    pub(super) fn emulator(&self) -> Result<&Built> {
        self.emulator.get(|| emulator::build(self.emulator_tools()?))
    }

    /// How the main job ended in QEMU, which `run` runs there.
    pub(super) fn main_job(&self, run: impl FnOnce() -> Result<Outcome>) -> Result<&Outcome> {
        self.main_job.get(run)
    }
}
