"use strict";
// Draws the page of one run from the JSON beside it. Times are microseconds of the machine's clock.

const run = JSON.parse(document.getElementById("run").textContent);
const page = document.getElementById("page");
const CLASSES = ["computing", "moving", "waiting"];
const CLASS_NAMES = ["computing", "moving data", "waiting", "before and after the program"];

/** An element with attributes and children; text is never markup. */
function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

function section(title, ...children) {
  page.append(make("section", {}, make("h2", {}, title), ...children));
}

function time(us) {
  if (us === 0) return "0";
  // What is 999.7 of one unit is 1.00 of the next.
  const rounded = Number(us.toPrecision(3));
  if (rounded >= 1e9) return `${Math.round(us / 1e6).toLocaleString("en")} s`;
  const [value, unit] = rounded >= 1e6 ? [us / 1e6, "s"] : rounded >= 1e3 ? [us / 1e3, "ms"] : [us, "µs"];
  return `${value.toPrecision(3)} ${unit}`;
}

function percent(share) {
  return `${(share * 100).toFixed(1)} %`;
}

/** A table; columns are [title, isText], cells are text or elements. */
function table(columns, rows) {
  const look = (column) => (column[1] ? { class: column[2] || "text" } : {});
  const title = (column) => make("th", { scope: "col", ...look(column) }, column[0]);
  const head = make("tr", {}, ...columns.map(title));
  const cell = (content, index) => make("td", look(columns[index]), content);
  const body = rows.map((row) => make("tr", {}, ...row.map(cell)));
  return make("div", { class: "scroll" }, make("table", {}, make("thead", {}, head), make("tbody", {}, ...body)));
}

/** A bar of the shares of time in each class. */
function bar(times, whole) {
  const parts = times.map((us, index) => {
    const width = whole > 0 ? (us * 100) / whole : 0;
    return make("i", { class: CLASSES[index], style: `width:${width}%`, title: `${CLASS_NAMES[index]} ${time(us)}` });
  });
  const words = times.map((us, index) => `${CLASS_NAMES[index]} ${time(us)}`).join(", ");
  return make("div", { class: "bar", role: "img", "aria-label": words }, ...parts);
}

function key() {
  const entry = (name, index) => make("span", {}, make("b", { class: CLASSES[index] || "idle" }), name);
  return make("div", { class: "key" }, ...CLASS_NAMES.map(entry));
}

function rest(more, what) {
  return more > 0 ? [make("p", { class: "faint" }, `and ${more} more ${what}`)] : [];
}

function head() {
  document.title = `${run.label} – Atoll`;
  page.append(make("h1", {}, run.label));
  page.append(
    run.failure === null ? make("p", { class: "ok" }, "ended well") : make("p", { class: "failed" }, run.failure),
  );
  page.append(make("p", {}, make("code", {}, run.command)));
  const facts = [];
  if (run.account) {
    const account = run.account;
    const sum = (index) => account.ranks.reduce((total, rank) => total + rank.times[index], 0);
    const busy = sum(0);
    facts.push(["from first to last", time(account.length)]);
    facts.push(["ranks", String(account.ranks.length)]);
    if (account.length > 0) facts.push(["ranks that compute", `${(busy / account.length).toFixed(1)} on average`]);
    facts.push(["time spent waiting", percent(sum(2) / (account.length * account.ranks.length || 1))]);
  }
  facts.push(["on this host", time(run.host_us)]);
  const list = facts.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value)));
  page.append(make("dl", { class: "facts" }, ...list));
}

function findings() {
  if (run.findings.length === 0) return;
  section("Mistakes that the checker has found", ...run.findings.map((line) => make("p", {}, make("code", {}, line))));
}

function pictures() {
  if (run.pictures.length === 0 && run.files.length === 0) return;
  const figures = run.pictures.map((picture) => {
    const image = make("img", { src: picture.url, alt: picture.name });
    return make("figure", { class: "picture" }, image, make("figcaption", {}, picture.name));
  });
  const files = run.files.map((file) => make("p", { class: "faint" }, make("code", {}, file)));
  section("Results", ...figures, ...files);
}

function output() {
  if (run.text.length === 0) return;
  const text = make("pre", {}, run.text.join("\n"));
  const lost = run.text_lost > 0 ? [make("p", { class: "faint" }, `${run.text_lost} earlier lines are left out`)] : [];
  section("Output", ...lost, text);
}

/** The colours of the classes of time, as red, green and blue. */
function paints() {
  const style = getComputedStyle(document.documentElement);
  return [...CLASSES, "track"].map((name) => {
    const hex = style.getPropertyValue(`--${name}`).trim().slice(1);
    return [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16));
  });
}

/** What all ranks did, one row each: the colours of a cell are mixed by the shares of its time. */
function timeline() {
  const account = run.account;
  const ranksARow = account.views[0].ranks_a_row;
  const rows = Math.ceil(account.ranks.length / ranksARow);
  const label = "what each rank did when; arrow keys go from place to place";
  const canvas = make("canvas", { role: "img", tabindex: "0", "aria-label": label });
  canvas.style.height = `${rows * Math.max(1, Math.min(12, Math.floor(480 / rows)))}px`;
  const bands = make("div", { class: "bands" });
  const axis = make("div", { class: "axis" });
  const note = make("p", { class: "faint", "aria-live": "polite" }, "Point at a place to see what a rank did there.");
  const name = (view) => (view.phase === null ? "the whole run" : view.phase);
  const choice = make("select", { "aria-label": "what is shown" }, ...account.views.map((view, index) =>
    make("option", { value: String(index) }, name(view))));
  let [view, bytes, column, row] = [null, null, 0, 0];
  const draw = () => {
    const colours = paints();
    const { columns } = view;
    [canvas.width, canvas.height] = [columns, rows];
    const context = canvas.getContext("2d");
    const image = context.createImageData(columns, rows);
    for (let cell = 0; cell < columns * rows; cell++) {
      const shares = [0, 1, 2].map((index) => bytes[cell * 3 + index] / 255);
      shares.push(Math.max(0, 1 - shares[0] - shares[1] - shares[2]));
      for (let part = 0; part < 3; part++) {
        image.data[cell * 4 + part] = shares.reduce((sum, share, index) => sum + share * colours[index][part], 0);
      }
      image.data[cell * 4 + 3] = 255;
    }
    context.putImageData(image, 0, 0);
  };
  const show = () => {
    view = account.views[Number(choice.value)];
    [column, row] = [0, 0];
    bytes = Uint8Array.from(atob(view.cells), (letter) => letter.charCodeAt(0));
    draw();
    const at = [0, 0.25, 0.5, 0.75, 1].map((share) => make("span", {}, time(view.begin + view.length * share)));
    axis.replaceChildren(...at);
    // Phases of different ranks overlap: a band ends where the next one begins.
    const phases = (view.phase === null ? account.phases : [])
      .flatMap((phase) => phase.when.map(([begin, end]) => ({ name: phase.name, begin, end })))
      .sort((one, other) => one.begin - other.begin);
    const place = (us) => (us * 100) / (account.length || 1);
    bands.replaceChildren(...phases.map((phase, index) => {
      const end = index + 1 < phases.length ? phases[index + 1].begin : phase.end;
      const style = `left:${place(phase.begin)}%;width:${place(end - phase.begin)}%`;
      return make("span", { style, title: phase.name }, phase.name);
    }));
    bands.hidden = phases.length === 0;
  };
  const tell = () => {
    const at = (row * view.columns + column) * 3;
    const shares = [0, 1, 2].map((part) => `${CLASS_NAMES[part]} ${percent(bytes[at + part] / 255)}`);
    const when = time(view.begin + (column * view.length) / view.columns);
    const [first, last] = [row * ranksARow, Math.min((row + 1) * ranksARow, account.ranks.length) - 1];
    const [from, to] = [account.ranks[first].rank, account.ranks[last].rank];
    note.textContent = `rank ${from === to ? from : `${from} to ${to}`} at ${when}: ${shares.join(", ")}`;
  };
  const limit = (at, count) => Math.min(count - 1, Math.max(0, Math.floor(at)));
  const point = (event) => {
    const box = canvas.getBoundingClientRect();
    column = limit(((event.clientX - box.left) * view.columns) / box.width, view.columns);
    row = limit(((event.clientY - box.top) * rows) / box.height, rows);
    tell();
  };
  canvas.addEventListener("pointermove", point);
  canvas.addEventListener("pointerdown", point);
  const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  canvas.addEventListener("keydown", (event) => {
    const step = STEPS[event.key];
    if (!step) return;
    event.preventDefault();
    [column, row] = [limit(column + step[0], view.columns), limit(row + step[1], rows)];
    tell();
  });
  choice.addEventListener("change", show);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  show();
  const choose = account.views.length > 1 ? [make("p", {}, "Show ", choice)] : [];
  section("What the ranks did", ...choose, key(), bands, canvas, axis, note, ranks());
}

function ranks() {
  const account = run.account;
  const rows = account.ranks.map((rank) => [
    String(rank.rank), ...rank.times.map(time), bar(rank.times, account.length),
  ]);
  const columns = [["rank"], ...CLASSES.map((_, index) => [CLASS_NAMES[index]]), ["share", true]];
  return make("details", {}, make("summary", {}, "rank by rank"), table(columns, rows));
}

function phases() {
  const account = run.account;
  if (account.phases.length === 0) return;
  const rows = account.phases.map((phase) => {
    const speedUp = phase.length > 0 ? (phase.times[0] / phase.length).toFixed(1) : "";
    const all = phase.times.reduce((sum, us) => sum + us, 0);
    const times = String(phase.count);
    return [phase.name, times, time(phase.when[0][0]), time(phase.length), speedUp, bar(phase.times, all)];
  });
  const columns = [["phase", true], ["times"], ["first"], ["length"], ["speed-up"], ["time of all ranks", true]];
  const note =
    "The length of a phase is the time in which at least one rank is in it, and its speed-up the time that all ranks " +
    "compute in it, divided by that.";
  section("Phases", table(columns, rows), make("p", { class: "faint" }, note));
}

function path() {
  const path = run.account.path;
  const text =
    `${time(path.length)} from rank ${path.from} to rank ${path.to}, over ${path.wait_count} waits: ` +
    "the run gets shorter only if something on this path does.";
  const work = path.work.map(([name, us]) => [percent(us / (path.length || 1)), time(us), name]);
  const waits = path.waits.map((wait) => [time(wait.length), String(wait.rank), String(wait.by), wait.what]);
  const shown = [table([["share"], ["time"], ["what was done", true, "text wide"]], work)];
  shown.push(...rest(path.work_count - work.length, "kinds of work"));
  if (waits.length > 0) {
    shown.push(table([["waited"], ["rank"], ["ended by"], ["in what, for what", true, "text wide"]], waits));
    shown.push(...rest(path.wait_count - waits.length, "waits"));
  }
  section("Critical path", make("p", {}, text), ...shown);
}

function waits() {
  const all = run.account.waits;
  if (all.length === 0) return;
  const rows = all.map((wait) => [
    time(wait.total), String(wait.count), time(wait.longest), String(wait.rank), wait.under_way ? "" : String(wait.polls),
    wait.under_way ? `${wait.what} (had not ended)` : wait.what,
  ]);
  const columns = [
    ["all ranks"], ["times"], ["longest"], ["on rank"], ["polls in vain"], ["in what, for what", true, "text wide"],
  ];
  section("Waits by reason", table(columns, rows), ...rest(run.account.wait_kinds - all.length, "reasons"));
}

function traffic() {
  if (run.traffic === null) return;
  const image = make("img", { src: run.traffic, alt: "accesses to MPBs and memory controllers, and packets on links" });
  section("Where the traffic was", make("figure", { class: "picture" }, image));
}

function counters() {
  if (run.counters.length === 0) return;
  const rows = run.counters.map((counter) => [
    counter.name, counter.total, counter.least, counter.most,
  ].map((cell) => (typeof cell === "number" ? cell.toLocaleString("en") : cell)));
  section("Operations", table([["counter", true], ["all ranks"], ["least of a rank"], ["most of a rank"]], rows));
}

page.replaceChildren();
head();
findings();
pictures();
output();
if (run.account) {
  timeline();
  phases();
  path();
  waits();
} else {
  section("What the ranks did", make("p", { class: "faint" }, "This run has left no trace."));
}
traffic();
counters();
