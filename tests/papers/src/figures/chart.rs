//! Draws plots: curves over axes, one SVG for all parts of a figure.

use super::{
    figure::{Axis, Origin, Plot, Scale, Series},
    numbers,
};
use anyhow::{Result, anyhow, ensure};
use plotters::{
    coord::{
        Shift,
        ranged1d::{AsRangedCoord, Ranged, ValueFormatter},
    },
    element::{Circle, PathElement, Text, TriangleMarker},
    prelude::{
        BLACK, ChartBuilder, Color, DrawingArea, IntoDrawingArea, IntoFont, IntoLogRange, LineSeries, RGBColor,
        SVGBackend, ShapeStyle, WHITE,
    },
};
use std::{error::Error, ops::Range};

/// Pixels of a part, without its legend.
const PART: (u32, u32) = (640, 400);

/// Pixels of a legend's line.
const LEGEND_LINE: u32 = 20;

/// Entries beside each other in a legend.
const LEGEND_COLUMNS: usize = 2;

/// Parts beside each other.
const COLUMNS: usize = 2;

/// A measured curve of at most this number of points has a dot at each.
const MOST_DOTS: usize = 60;

/// Ticks of an axis, about.
const TICKS: usize = 10;

/// Half the size of a published point's mark.
const MARK: i32 = 6;

/// What series of different names are told apart by. They differ in lightness, too.
const COLOURS: [RGBColor; 10] = [
    RGBColor(31, 90, 166),
    RGBColor(200, 60, 40),
    RGBColor(40, 140, 70),
    RGBColor(230, 150, 20),
    RGBColor(120, 70, 160),
    RGBColor(20, 160, 175),
    RGBColor(150, 90, 50),
    RGBColor(220, 110, 170),
    RGBColor(110, 110, 110),
    RGBColor(140, 160, 20),
];

const GRID: RGBColor = RGBColor(225, 225, 225);

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn<T> = Result<T, Box<dyn Error>>;

/// A figure as an SVG: its parts beside and below each other, each with its legend below.
///
/// # Errors
/// When a part has no points, or some that cannot be on its axes.
pub(super) fn svg(plots: &[Plot]) -> Result<String> {
    let ranges = plots.iter().map(ranges).collect::<Result<Vec<_>>>()?;
    let mut text = String::new();
    draw(&mut text, plots, ranges).map_err(|error| anyhow!("cannot be drawn: {error}"))?;
    Ok(text)
}

/// What the axes of a plot show, across and upwards.
fn ranges(plot: &Plot) -> Result<[Range<f64>; 2]> {
    let points = || plot.series.iter().flat_map(|series| &series.points);
    Ok([range(&plot.x, points().map(|(x, _)| *x))?, range(&plot.y, points().map(|(_, y)| *y))?])
}

/// The range of an axis with all of these numbers: from zero, or from one power to another.
fn range(axis: &Axis, numbers: impl Iterator<Item = f64>) -> Result<Range<f64>> {
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    for number in numbers {
        let fits = number.is_finite() && (axis.scale == Scale::Linear || number > 0.0);
        ensure!(fits, "{}: {number} cannot be on a {} axis", axis.label, axis.scale.name());
        (least, most) = (least.min(number), most.max(number));
    }
    ensure!(least <= most, "{}: there are no points", axis.label);
    Ok(match axis.scale.base() {
        None => {
            let (least, most) = (least.min(0.0), most.max(0.0));
            // The largest number does not touch the frame, and zeros alone have an axis.
            least..if least < most { most + 0.04 * (most - least) } else { least + 1.0 }
        }
        Some(base) => {
            // So that rounding errors of logarithms make no power of their own.
            const SLACK: f64 = 1e-9;
            let from = (least.log(base) + SLACK).floor();
            base.powf(from)..base.powf((most.log(base) - SLACK).ceil().max(from + 1.0))
        }
    })
}

fn draw(text: &mut String, plots: &[Plot], ranges: Vec<[Range<f64>; 2]>) -> Drawn<()> {
    let columns = plots.len().clamp(1, COLUMNS);
    let rows = plots.len().div_ceil(columns).max(1);
    let entries = plots.iter().map(|plot| plot.series.len()).max().unwrap_or(0);
    let legend = entries.div_ceil(LEGEND_COLUMNS) as u32 * LEGEND_LINE + LEGEND_LINE / 2;
    let size = (PART.0 * columns as u32, (PART.1 + legend) * rows as u32);
    let area = SVGBackend::with_string(text, size).into_drawing_area();
    area.fill(&WHITE)?;
    for ((part, plot), [x, y]) in area.split_evenly((rows, columns)).iter().zip(plots).zip(ranges) {
        let (curves, legend) = part.split_vertically(PART.1);
        let colours = colours(&plot.series);
        match (plot.x.scale.base(), plot.y.scale.base()) {
            (None, None) => draw_curves(&curves, plot, x, y, &colours)?,
            (None, Some(up)) => draw_curves(&curves, plot, x, y.log_scale().base(up), &colours)?,
            (Some(across), None) => draw_curves(&curves, plot, x.log_scale().base(across), y, &colours)?,
            (Some(across), Some(up)) => {
                draw_curves(&curves, plot, x.log_scale().base(across), y.log_scale().base(up), &colours)?;
            }
        }
        draw_legend(&legend, plot, &colours)?;
    }
    area.present()?;
    Ok(())
}

impl Scale {
    fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Binary => "binary",
            Self::Decimal => "decimal",
        }
    }

    /// What the powers on it are powers of.
    fn base(self) -> Option<f64> {
        match self {
            Self::Linear => None,
            Self::Binary => Some(2.0),
            Self::Decimal => Some(10.0),
        }
    }

    /// A number as it stands beside the axis.
    fn shown(self, value: f64) -> String {
        match self {
            Self::Binary => numbers::binary(value),
            // More digits than that have no room.
            Self::Decimal if value >= 1e5 => format!("{value:e}"),
            Self::Linear | Self::Decimal => numbers::number(value),
        }
    }
}

/// The colour of each series: one for each name.
fn colours(series: &[Series]) -> Vec<RGBColor> {
    let mut names: Vec<&str> = Vec::new();
    let of = series.iter().map(|Series { name, .. }| {
        let place = names.iter().position(|other| other == name).unwrap_or_else(|| {
            names.push(name);
            names.len() - 1
        });
        COLOURS[place % COLOURS.len()]
    });
    of.collect()
}

fn draw_curves<X, Y>(area: &Area<'_>, plot: &Plot, x: X, y: Y, colours: &[RGBColor]) -> Drawn<()>
where
    X: AsRangedCoord<Value = f64, CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>>,
    Y: AsRangedCoord<Value = f64, CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>>,
{
    let mut builder = ChartBuilder::on(area);
    builder.margin(12).margin_right(24).x_label_area_size(46).y_label_area_size(72);
    if !plot.title.is_empty() {
        builder.caption(&plot.title, ("sans-serif", 18).into_font());
    }
    let mut chart = builder.build_cartesian_2d(x, y)?;
    chart
        .configure_mesh()
        .x_desc(plot.x.label)
        .y_desc(plot.y.label)
        .x_labels(TICKS)
        .y_labels(TICKS)
        .x_label_formatter(&|x| plot.x.scale.shown(*x))
        .y_label_formatter(&|y| plot.y.scale.shown(*y))
        .bold_line_style(GRID)
        .light_line_style(WHITE.mix(0.0))
        .label_style(("sans-serif", 14))
        .draw()?;
    // What is thin is drawn last, or measurements that are as they should be would hide their formulas.
    let (formulas, others): (Vec<_>, Vec<_>) =
        plot.series.iter().zip(colours).partition(|(series, _)| series.origin == Origin::Model);
    for (series, colour) in others.into_iter().chain(formulas) {
        let points = series.points.iter().copied();
        match series.origin {
            Origin::Published => {
                chart.draw_series(points.map(|point| TriangleMarker::new(point, MARK, colour.filled())))?;
            }
            Origin::Model => drop(chart.draw_series(LineSeries::new(points, line(series.origin, *colour)))?),
            Origin::Ours => {
                chart.draw_series(LineSeries::new(points.clone(), line(series.origin, *colour)))?;
                if series.points.len() <= MOST_DOTS {
                    chart.draw_series(points.map(|point| Circle::new(point, 3, colour.filled())))?;
                }
            }
        }
    }
    Ok(())
}

/// How a curve is drawn.
fn line(origin: Origin, colour: RGBColor) -> ShapeStyle {
    match origin {
        Origin::Ours | Origin::Published => colour.stroke_width(2),
        Origin::Model => RGBColor(colour.0 / 2, colour.1 / 2, colour.2 / 2).stroke_width(1),
    }
}

fn draw_legend(area: &Area<'_>, plot: &Plot, colours: &[RGBColor]) -> Drawn<()> {
    const SAMPLE: i32 = 26;
    let left = 84;
    let width = (PART.0 as i32 - left) / LEGEND_COLUMNS as i32;
    let rows = plot.series.len().div_ceil(LEGEND_COLUMNS).max(1);
    for (place, (series, colour)) in plot.series.iter().zip(colours).enumerate() {
        // Column by column, so that what belongs together stays below each other.
        let (column, row) = (place / rows, place % rows);
        let (x, y) = (left + column as i32 * width, LEGEND_LINE as i32 / 2 + row as i32 * LEGEND_LINE as i32);
        let centre = (x + SAMPLE / 2, y);
        if series.origin == Origin::Published {
            area.draw(&TriangleMarker::new(centre, MARK, colour.filled()))?;
        } else {
            area.draw(&PathElement::new(vec![(x, y), (x + SAMPLE, y)], line(series.origin, *colour)))?;
        }
        if series.origin == Origin::Ours {
            area.draw(&Circle::new(centre, 3, colour.filled()))?;
        }
        let style = ("sans-serif", 14).into_font().color(&BLACK);
        area.draw(&Text::new(series.label(), (x + SAMPLE + 6, y - 8), style))?;
    }
    Ok(())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(crate) fn plot(title: &str, scale: Scale) -> Plot {
        Plot {
            title: title.into(),
            x: Axis { label: "cores", scale },
            y: Axis { label: "latency (us)", scale: Scale::Linear },
            series: vec![
                Series::ours("a < b & c", [(1.0, 0.0), (2.0, 5.0), (64.0, 7.0)]),
                Series::model("a < b & c", [(1.0, 0.5), (64.0, 7.5)]),
                Series::published("a < b & c", [(2.0, 4.0)]),
                Series::ours("other", [(1.0, 1.0)]),
            ],
        }
    }

    /// The elements of a document, in order, if tags are closed in order and everything in them is well formed.
    pub(crate) fn elements(document: &str) -> Option<Vec<String>> {
        let (mut open, mut all) = (Vec::new(), Vec::new());
        let mut rest = document;
        while let Some(start) = rest.find('<') {
            let text = &rest[..start];
            (!text.contains('>') && are_entities(text)).then_some(())?;
            let end = start + rest[start..].find('>')?;
            let tag = &rest[start + 1..end];
            rest = &rest[end + 1..];
            if let Some(name) = tag.strip_prefix('/') {
                (open.pop()? == name).then_some(())?;
                continue;
            }
            let (tag, is_empty) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
            let name = tag.split_whitespace().next()?;
            // What is between quotes are values, and there is nothing else than names beside them.
            let parts: Vec<_> = tag[name.len()..].split('"').collect();
            (parts.len() % 2 == 1 && parts.iter().all(|part| are_entities(part))).then_some(())?;
            let mut names = parts.iter().step_by(2);
            let last = names.next_back()?;
            (last.trim().is_empty() && names.all(|name| name.trim().ends_with('='))).then_some(())?;
            all.push(name.to_owned());
            if !is_empty {
                open.push(name.to_owned());
            }
        }
        (open.is_empty() && rest.trim().is_empty()).then_some(all)
    }

    /// Whether every ampersand of a text begins an entity.
    fn are_entities(text: &str) -> bool {
        let known = ["amp;", "lt;", "gt;", "quot;", "apos;"];
        text.split('&').skip(1).all(|rest| known.iter().any(|entity| rest.starts_with(entity)))
    }

    #[test]
    fn documents_are_checked() {
        assert_eq!(elements("<a><b x=\"1\" y=\"&lt;\"/>t &amp; u</a>").unwrap(), ["a", "b"]);
        for wrong in ["<a>", "<a></b>", "<a>&</a>", "<a x=1/>", "<a x=\"1/>", "text", "<a/></a>", "<a x=\"&\"/>"] {
            assert_eq!(elements(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn figures_are_well_formed() {
        for plots in [1, 2, 3, 4]
            .map(|count| vec![Scale::Linear, Scale::Binary, Scale::Decimal, Scale::Linear][..count].to_vec())
        {
            let plots: Vec<_> = plots.into_iter().map(|scale| plot("part & title", scale)).collect();
            let svg = svg(&plots).unwrap();
            let elements = elements(&svg).unwrap();
            let count = |name: &str| elements.iter().filter(|element| *element == name).count();
            assert_eq!(elements[0], "svg");
            // Two curves of ours, with dots here and in the legend, and one of the paper's points.
            assert_eq!(count("circle"), plots.len() * (3 + 1 + 2));
            assert_eq!(count("polygon"), plots.len() * 2);
            assert!(
                svg.contains("part &amp; title") && svg.contains("a &lt; b &amp; c, formula") && svg.contains("cores")
            );
        }
    }

    #[test]
    fn a_name_has_one_colour() {
        let plot = plot("", Scale::Linear);
        let colours = colours(&plot.series);
        assert!(colours[0] == colours[1] && colours[1] == colours[2] && colours[2] != colours[3]);
    }

    #[test]
    fn axes_show_all_numbers() {
        let range = |scale, numbers: &[f64]| range(&Axis { label: "y", scale }, numbers.iter().copied()).unwrap();
        assert_eq!(range(Scale::Linear, &[3.0, 100.0]), 0.0..104.0);
        assert_eq!(range(Scale::Linear, &[-0.5, 1.0]).start, -0.5);
        assert_eq!(range(Scale::Linear, &[0.0, 0.0]), 0.0..1.0);
        assert_eq!(range(Scale::Binary, &[1.0, 1000.0]), 1.0..1024.0);
        assert_eq!(range(Scale::Binary, &[8.0]), 8.0..16.0);
        assert_eq!(range(Scale::Decimal, &[1000.0, 13.0]), 10.0..1000.0);
    }

    #[test]
    fn ticks_have_numbers() {
        for (scale, ticks) in
            [(Scale::Linear, ["20", "60"]), (Scale::Binary, ["4", "64"]), (Scale::Decimal, ["10", "100"])]
        {
            let svg = svg(&[plot("", scale)]).unwrap();
            for tick in ticks {
                assert!(svg.contains(&format!("\n{tick}\n")), "{scale:?} {tick}: {svg}");
            }
        }
    }

    #[test]
    fn what_cannot_be_drawn_names_the_axis() {
        let mut empty = plot("", Scale::Linear);
        empty.series.clear();
        assert_eq!(svg(&[empty]).unwrap_err().to_string(), "cores: there are no points");
        let mut plot = plot("", Scale::Linear);
        plot.y.scale = Scale::Decimal;
        let message = format!("{:#}", svg(&[plot]).unwrap_err());
        assert_eq!(message, "latency (us): 0 cannot be on a decimal axis");
    }
}
