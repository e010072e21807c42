//! A cluster: for each node, what its engine has sent and received.

use super::HeatMap;
use plotters::prelude::{
    BLACK, ChartBuilder, Color, IntoDrawingArea, IntoFont, RGBColor, Rectangle, SVGBackend, SeriesLabelPosition, WHITE,
};
use std::error::Error;

/// Pixels of the picture.
const SIZE: (u32, u32) = (1200, 600);

/// What is shown, and the part of a node's width where its bar begins and ends.
const BARS: [(&str, RGBColor, f64, f64); 2] =
    [("sent", RGBColor(33, 102, 172), -0.4, 0.0), ("received", RGBColor(178, 24, 43), 0.0, 0.4)];

pub(super) fn draw(map: &HeatMap, title: &str, text: &mut String) -> Result<(), Box<dyn Error>> {
    let nodes = map.columns * map.rows;
    let count = |node: u64, what: &str| map.count("tile", node % map.columns, node / map.columns, what);
    let most = (0..nodes).flat_map(|node| BARS.map(|(what, ..)| count(node, what))).max().unwrap_or(0).max(1);
    let area = SVGBackend::with_string(text, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .caption(format!("{title}: a cluster, no mesh; {} cores", map.cores), ("sans-serif", 20).into_font())
        .margin(15)
        .x_label_area_size(45)
        .y_label_area_size(90)
        .build_cartesian_2d(-0.5..nodes as f64 - 0.5, 0.0..most as f64 * 1.05)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .x_desc("node")
        .y_desc("packets over its engine")
        .x_label_formatter(&|node| format!("{node:.0}"))
        .y_label_formatter(&|packets| format!("{packets:.0}"))
        .draw()?;
    for (what, colour, left, right) in BARS {
        let bar = |node: u64| {
            let at = node as f64;
            Rectangle::new([(at + left, 0.0), (at + right, count(node, what) as f64)], colour.filled())
        };
        chart
            .draw_series((0..nodes).map(bar))?
            .label(what)
            .legend(move |(x, y)| Rectangle::new([(x, y - 4), (x + 15, y + 4)], colour.filled()));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .border_style(BLACK)
        .background_style(WHITE)
        .draw()?;
    area.present()?;
    Ok(())
}
