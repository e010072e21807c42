//! The report: everything that was drawn, in one file that needs no other.

use super::{
    figure::{Content, Figure, Plot, Table},
    numbers::number,
};
use crate::papers::{self, Paper};
use std::fmt::Write;

/// A figure with what is in it.
pub(super) struct Shown {
    pub(super) paper: &'static Paper,
    pub(super) figure: &'static Figure,
    pub(super) content: Content,
    /// Of plots.
    pub(super) svg: Option<String>,
}

/// What is no counterpart of a figure, but belongs into the report.
pub(super) struct Section {
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    pub(super) note: String,
    pub(super) body: Body,
}

/// What is in a section.
pub(super) enum Body {
    Table(Table),
    Svg(String),
}

const STYLE: &str = "
body { font: 16px/1.5 sans-serif; color: #222; background: #fff; max-width: 84em; margin: 0 auto; padding: 1em 2em; }
h1, h2, h3 { line-height: 1.2; } h2 { border-bottom: 1px solid #ccc; margin-top: 2.5em; } h3 { margin: 2em 0 0.3em; }
nav ul { columns: 2; } a { color: #1f5aa6; } svg { max-width: 100%; height: auto; }
.reference, .note { color: #555; margin: 0.3em 0; max-width: 60em; }
table { border-collapse: collapse; margin: 0.6em 0; font-size: 90%; }
th, td { border: 1px solid #ddd; padding: 0.15em 0.6em; text-align: right; } th { background: #f3f5f8; }
th:first-child, td:first-child, .words td, .words th { text-align: left; }
summary { cursor: pointer; color: #1f5aa6; }
";

/// The report as a page of HTML.
pub(super) fn html(shown: &[Shown], sections: &[Section], preface: &str) -> String {
    let mut page = String::from("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n");
    add(&mut page, &format!("<title>{TITLE}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{TITLE}</h1>\n"));
    add(&mut page, &format!("<p class=\"note\">{}</p>\n", escape(preface)));
    contents(&mut page, shown, sections);
    for section in sections {
        add_section(&mut page, section);
    }
    for (paper, figures) in by_paper(shown) {
        let (name, reference) = (escape(paper.name), escape(paper.reference));
        add(&mut page, &format!("<h2>{name}</h2>\n<p class=\"reference\">{reference}</p>\n"));
        for figure in figures {
            add_figure(&mut page, figure);
        }
    }
    page + "</body>\n</html>\n"
}

const TITLE: &str = "Atoll: figures of the papers, measured again";

/// The figures of each paper that there are any of.
fn by_paper(shown: &[Shown]) -> impl Iterator<Item = (&'static Paper, Vec<&Shown>)> {
    let of = |paper: &'static Paper| {
        (paper, shown.iter().filter(|shown| shown.paper.name == paper.name).collect::<Vec<_>>())
    };
    papers::ALL.into_iter().map(of).filter(|(_, figures)| !figures.is_empty())
}

fn contents(page: &mut String, shown: &[Shown], sections: &[Section]) {
    let mut list: Vec<(&str, String)> = sections.iter().map(|section| (section.id, section.title.to_owned())).collect();
    for (paper, figures) in by_paper(shown) {
        let text = |figure: &Figure| format!("{}, {}: {}", paper.name, figure.number, figure.title);
        list.extend(figures.iter().map(|shown| (shown.figure.id, text(shown.figure))));
    }
    add(page, "<nav>\n<ul>\n");
    for (id, text) in list {
        add(page, &format!("<li><a href=\"#{id}\">{}</a></li>\n", escape(&text)));
    }
    add(page, "</ul>\n</nav>\n");
}

fn add_section(page: &mut String, section: &Section) {
    add(page, &format!("<section id=\"{}\">\n<h2>{}</h2>\n", section.id, escape(section.title)));
    add(page, &format!("<p class=\"note\">{}</p>\n", escape(&section.note)));
    match &section.body {
        Body::Table(table) => add_table(page, table, "words"),
        Body::Svg(svg) => add(page, svg),
    }
    add(page, "</section>\n");
}

fn add_figure(page: &mut String, shown: &Shown) {
    let Figure { id, number, title, note, .. } = shown.figure;
    add(page, &format!("<section id=\"{id}\">\n<h3>{}: {}</h3>\n", escape(number), escape(title)));
    if !note.is_empty() {
        add(page, &format!("<p class=\"note\">{}</p>\n", escape(note)));
    }
    if let Some(svg) = &shown.svg {
        add(page, svg);
    }
    match &shown.content {
        Content::Table(table) => add_table(page, table, "words"),
        Content::Plots(plots) => {
            add(page, "<details>\n<summary>All points</summary>\n");
            for plot in plots {
                if !plot.title.is_empty() {
                    add(page, &format!("<p>{}</p>\n", escape(&plot.title)));
                }
                add_table(page, &points(plot), "points");
            }
            add(page, "</details>\n");
        }
    }
    add(page, "</section>\n");
}

/// All points of a plot: a row for each x, a column for each series. Where a series has several of one x, they are all
/// in the cell.
pub(super) fn points(plot: &Plot) -> Table {
    let mut places: Vec<f64> = plot.series.iter().flat_map(|series| series.points.iter().map(|(x, _)| *x)).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    let header = [plot.x.label.to_owned()].into_iter().chain(plot.series.iter().map(|series| series.label()));
    let row = |x: &f64| {
        let cells = plot.series.iter().map(|series| {
            let there = series.points.iter().filter(|(place, _)| place == x).map(|(_, y)| number(*y));
            there.collect::<Vec<_>>().join(", ")
        });
        [number(*x)].into_iter().chain(cells).collect()
    };
    Table { header: header.collect(), rows: places.iter().map(row).collect() }
}

fn add_table(page: &mut String, table: &Table, class: &str) {
    add(page, &format!("<table class=\"{class}\">\n"));
    let mut row = |cells: &[String], tag: &str| {
        let cells = cells.iter().map(|cell| format!("<{tag}>{}</{tag}>", escape(cell)));
        add(page, &format!("<tr>{}</tr>\n", cells.collect::<String>()));
    };
    row(&table.header, "th");
    table.rows.iter().for_each(|cells| row(cells, "td"));
    add(page, "</table>\n");
}

fn add(page: &mut String, text: &str) {
    // Writing to a string does not fail.
    let _ = page.write_str(text);
}

/// A text as HTML.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::{
        chart::{self, tests::elements},
        figure::{Scale, figure},
    };

    static PLOTS: Figure = figure("oc-bcast-fig-0", "Fig. 0", "Latency < 1").note("R & D");
    static TABLE: Figure = figure("scosco-table-0", "Table 0", "Latency < 1");

    fn table() -> Table {
        Table { header: vec!["what".into(), "ours".into()], rows: vec![vec!["a < b".into(), "1".into()]] }
    }

    fn page() -> String {
        let plots = vec![chart::tests::plot("part", Scale::Linear)];
        let svg = Some(chart::svg(&plots).unwrap());
        let shown = [
            Shown { paper: papers::ALL[1], figure: &PLOTS, content: Content::Plots(plots), svg },
            Shown { paper: papers::ALL[0], figure: &TABLE, content: Content::Table(table()), svg: None },
        ];
        let body = Body::Table(table());
        let section = Section { id: "fidelity", title: "Fidelity", note: String::new(), body };
        html(&shown, &[section], "measured & drawn")
    }

    #[test]
    fn the_page_is_well_formed_and_has_every_figure() {
        let page = page();
        let body = page.strip_prefix("<!DOCTYPE html>\n").unwrap();
        assert!(elements(body).is_some_and(|elements| elements[0] == "html"));
        for id in ["fidelity", PLOTS.id, TABLE.id] {
            assert!(page.contains(&format!("<section id=\"{id}\">")), "{id}");
            assert!(page.contains(&format!("<a href=\"#{id}\">")), "{id}");
        }
        assert!(page.contains("Fig. 0: Latency &lt; 1") && page.contains("R &amp; D") && page.contains("<td>a &lt; b"));
        // In the order of the papers, whatever order they were drawn in.
        assert!(page.find("id=\"scosco-table-0").unwrap() < page.find("id=\"oc-bcast-fig-0").unwrap());
    }

    #[test]
    fn the_page_needs_no_other_file() {
        let page = page();
        // A namespace is a name, and nothing is loaded from there.
        let page = page.replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
        for loading in ["http:", "https:", "src=", "<link", "<script", "@import", "url("] {
            assert!(!page.contains(loading), "{loading}");
        }
        assert!(page.split("href=\"").skip(1).all(|link| link.starts_with('#')));
    }

    #[test]
    fn points_of_series_are_beside_each_other() {
        let table = points(&chart::tests::plot("", Scale::Linear));
        assert_eq!(table.header, ["cores", "a < b & c", "a < b & c, formula", "a < b & c, published", "other"]);
        assert_eq!(table.rows, [["1", "0", "0.5", "", "1"], ["2", "5", "", "4", ""], ["64", "7", "7.5", "", ""]]);
    }
}
