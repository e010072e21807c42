//! Pages of runs, in a browser without a screen: they draw themselves, say what came of the run, and fit a telephone.

use super::{backends::Backends, jobs::Job, kit::Kit};
use crate::{
    guest::Outcome,
    kernel_line::KernelLine,
    process,
    program::DEFAULT_PROGRAM,
    progress::Progress,
    report, result_files, run,
    setup::{self, BrowserTools},
    sim, workspace,
};
use anyhow::{Context, Result, ensure};
use std::{fs, path::Path, process::Command};

/// Names of the tests in here, for `--filter`.
const NAMES: [&str; 3] = ["page-of-a-simulation", "page-of-a-run", "page-of-a-failure"];

const CORES: u16 = 5;

/// Memory for each rank's trace.
const TRACE_KIB: u64 = 1024;

/// Widths of windows in pixels, from a telephone's to a desk's.
const WIDTHS: [u32; 2] = [390, 1280];

/// Whether the window is dark, as Chromium's setting has it.
const COLOURS: [(&str, &str); 2] = [("dark", "0"), ("light", "1")];

/// Says in the page's own words what the browser made of it: whether it is wider than its window, and how many colours
/// the picture of what ranks did has.
const WITNESS: &str = "<script>{
    const root = document.documentElement;
    root.dataset.fits = root.scrollWidth <= root.clientWidth;
    const canvas = document.querySelector('canvas');
    const pixels = canvas && canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
    root.dataset.drawn = Boolean(pixels && new Set(new Uint32Array(pixels.buffer)).size > 2);
    root.dataset.broken = [...document.images].filter((image) => image.complete && image.naturalWidth === 0).length;
}</script>";

/// A job for what is wanted of them.
pub(super) fn job<'t>(kit: &'t Kit<'t>) -> Option<Job<'t>> {
    let wanted = || NAMES.into_iter().filter(|name| kit.arguments.wants(name));
    (wanted().count() > 0).then(|| {
        Job::new("pages", 20, move |suite| {
            for name in wanted() {
                suite.check(name, test(name, kit));
            }
            Ok(())
        })
    })
}

fn test(name: &str, kit: &Kit<'_>) -> Result<()> {
    let _progress = Progress::new(name);
    let scratch = workspace::scratch()?;
    let page = |outcome: &Outcome, traffic: Option<Vec<u8>>| {
        report::page(outcome, scratch.path(), &report::More { traffic, ..report::More::default() })
    };
    let words = KernelLine::default().value("trace_kib", Some(TRACE_KIB));
    if name == NAMES[0] {
        let backends = Backends::of(DEFAULT_PROGRAM, vec![run::default_input()], kit)?;
        let words = words.switch(sim::HEAT_MAP_WORD, true).free(&["steps=2".into()])?;
        let outcome = backends.simulated(CORES, &words)?;
        outcome.verdict()?;
        result_files::write(&outcome.transcript, scratch.path(), backends.inputs())?;
        let map = sim::heat_map(&outcome.transcript, "traffic")?.context("there is no table of traffic")?;
        let said = [
            "ended well",
            "terrain.png",
            "Phases",
            "stencil",
            "Critical path",
            "Waits by reason",
            "Where the traffic was",
        ];
        return look(&page(&outcome, Some(map.svg)), true, &said, scratch.path(), kit);
    }
    let backends = Backends::of("wave", Vec::new(), kit)?;
    let size = if name == NAMES[1] { "size=13x11x9" } else { "size=0x0x0" };
    let words = words.free(&[size.into()])?;
    let plan = run::plan(&backends.program, CORES, &[], &[])?.with_traces(CORES, Some(TRACE_KIB))?;
    let outcome = backends.in_qemu(CORES, &plan, &words)?;
    ensure!(outcome.verdict().is_ok() == (name == NAMES[1]), "the run has ended in another way");
    let said: &[&str] = if name == NAMES[1] { &["ended well", "Critical path"] } else { &["wave on 5 cores failed: "] };
    look(&page(&outcome, None), name == NAMES[1], said, scratch.path(), kit)
}

/// Looks at a page by a browser: in all widths and colours it is drawn without an error, fits, and has these words.
fn look(page: &str, is_traced: bool, said: &[&str], scratch: &Path, kit: &Kit<'_>) -> Result<()> {
    let tools: BrowserTools = setup::ensure(kit.arguments.yes)?;
    let file = scratch.join("page.html");
    fs::write(&file, page.replace("</body>", &format!("{WITNESS}</body>"))).context("cannot write a page")?;
    for width in WIDTHS {
        for (colour, setting) in COLOURS {
            let at = format!("{width} pixels wide, {colour}");
            let mut command = Command::new(&tools.chromium);
            // A sandbox of its own is nothing that root can have.
            command.args(["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom"]);
            command.arg(format!("--user-data-dir={}", scratch.join("browser").display()));
            command.arg(format!("--blink-settings=preferredColorScheme={setting}"));
            command.arg(format!("--window-size={width},900")).arg(&file);
            let shown = process::finish(&mut command, |_| {})?;
            ensure!(shown.status.success(), "{at}: the browser has failed:\n{}", shown.messages);
            let error = shown.messages.lines().find(|line| line.contains("CONSOLE"));
            ensure!(error.is_none(), "{at}: {}", error.unwrap_or_default());
            let drawn = format!("data-drawn=\"{is_traced}\"");
            for word in ["data-fits=\"true\"", "data-broken=\"0\"", &drawn].into_iter().chain(said.iter().copied()) {
                // The script and its data say much, too.
                let (_, body) = shown.output.split_once("<main").unwrap_or_default();
                let (body, _) = body.split_once("</main>").unwrap_or_default();
                let (head, _) = shown.output.split_once("<head").unwrap_or_default();
                ensure!(body.contains(word) || head.contains(word), "{at}: the page does not say `{word}`:\n{body}");
            }
        }
    }
    Ok(())
}
