//! Pages of runs, in a browser without a screen: they draw themselves, say what came of the run, and fit a telephone.

use super::{backends::Backends, jobs::Job, kit::Kit};
use crate::{
    console::Transcript,
    guest::{self, Outcome},
    kernel_line::KernelLine,
    process,
    program::DEFAULT_PROGRAM,
    progress::Progress,
    report, result_files, run,
    setup::{self, BrowserTools},
    sim, wanted, workspace,
};
use anyhow::{Context, Result, ensure};
use std::{fs, path::Path, process::Command};

/// Names of the tests in here, for `--filter`.
const NAMES: [&str; 4] = ["page-of-a-simulation", "page-of-a-run", "page-of-a-deadlock", "page-of-any-size"];

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
    root.dataset.width = innerWidth;
    root.dataset.dark = matchMedia('(prefers-color-scheme: dark)').matches;
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
    let look = |outcome: &Outcome, is_traced, said: &[&str]| {
        self::look(&page(outcome, None), is_traced, said, scratch.path(), kit)
    };
    let words = KernelLine::default().value("trace_kib", Some(TRACE_KIB));
    if name == NAMES[0] {
        let backends = Backends::of(DEFAULT_PROGRAM, vec![wanted::default_input()], kit)?;
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
        return self::look(&page(&outcome, Some(map.svg)), true, &said, scratch.path(), kit);
    }
    if name == NAMES[1] {
        let backends = Backends::of("wave", Vec::new(), kit)?;
        let plan = run::plan(&backends.program, CORES, &[], &[])?.with_traces(CORES, Some(TRACE_KIB))?;
        let outcome = backends.in_qemu(CORES, &plan, &words.free(&["size=13x11x9".into()])?)?;
        outcome.verdict()?;
        return look(&outcome, true, &["ended well", "Phases", "Critical path"]);
    }
    if name == NAMES[2] {
        return look(
            &captured(&DEADLOCK),
            true,
            &["failed: a deadlock &lt;of two&gt;", "receive: a message (had not ended)"],
        );
    }
    look(&captured(&["@done ok"]), false, &["ended well", "This run has left no trace."])?;
    look(
        &captured(&["@trace 0 c 1 0", "@trace 0 s 0 7 7 - 0 program", "@done ok"]),
        false,
        &["ended well", "rank by rank"],
    )?;
    let ranks = (0..1000).flat_map(|rank| {
        let end = 100 + rank % 7;
        [
            format!("@trace {rank} c 1 0"),
            format!("@trace {rank} h 1 0 50 - 0 compute"),
            format!("@trace {rank} h 1 50 90 0 32 MPB put"),
            format!("@trace {rank} s 0 0 {end} - 0 program"),
        ]
    });
    let ranks: Vec<_> = ranks.chain(["@done ok".into()]).collect();
    look(&captured(&ranks), true, &["ended well", "1000", "computing"])
}

/// Looks at the page of a board's run.
pub(super) fn of_a_board(outcome: &Outcome, kit: &Kit<'_>) -> Result<()> {
    let scratch = workspace::scratch()?;
    let page = report::page(outcome, scratch.path(), &report::More::default());
    look(&page, true, &["ended well", "Critical path", "Waits by reason", "a message"], scratch.path(), kit)
}

/// Two ranks that wait for each other for good.
pub(super) const DEADLOCK: [&str; 8] = [
    "@trace 0 c 1000000 0",
    "@trace 0 m 0 exchange",
    "@trace 0 h 1 0 40 - 0 compute",
    "@trace 0 o 1 40 1 32 s receive",
    "@trace 0 o 2 50 1 0 w a message",
    "@trace 1 c 1000000 0",
    "@trace 1 s 1 0 90 0 32 send",
    "@done failed a deadlock <of two>",
];

/// What came of a run that has said this.
pub(super) fn captured(lines: &[impl AsRef<str>]) -> Outcome {
    let transcript = Transcript::of(lines.iter().map(AsRef::as_ref));
    guest::captured("a run", vec![(String::new(), transcript)])
}

/// Looks at a page by a browser: in all widths and colours it is drawn without an error, fits, and has these words; the picture
/// of what ranks did has more than two colours where there is something to be seen.
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
            let seen = [
                format!("data-width=\"{width}\""),
                format!("data-dark=\"{}\"", colour == "dark"),
                format!("data-drawn=\"{is_traced}\""),
                "data-fits=\"true\"".into(),
                "data-broken=\"0\"".into(),
            ];
            for word in seen.iter().map(String::as_str).chain(said.iter().copied()) {
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
