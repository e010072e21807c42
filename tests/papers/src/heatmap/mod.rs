//! The heat map of a run's traffic: a table that the simulator sends, and a picture of it.

mod cluster;
mod mesh;

use anyhow::{Context, Result, anyhow, bail, ensure};
use plotters::{
    prelude::{BLACK, Color, IntoFont, RGBColor, TextStyle, WHITE},
    style::text_anchor::{HPos, Pos, VPos},
};
use std::collections::BTreeMap;

/// The result file that holds the table.
pub(crate) const FILE: &str = "traffic.csv";

/// Sides of a machine at most.
const MOST_TILES: u64 = 1 << 16;

/// The columns of the table.
const HEADER: [&str; 5] = ["place", "x", "y", "what", "count"];

/// Where the traffic of a run was.
#[derive(Debug)]
pub(crate) struct HeatMap {
    is_cluster: bool,
    columns: u64,
    rows: u64,
    cores: u64,
    /// By place, column, row, and what was counted.
    counts: BTreeMap<(String, u64, u64, String), u64>,
}

impl HeatMap {
    /// Reads the table.
    ///
    /// # Errors
    /// When it is none, with the number of the line.
    pub(crate) fn parse(table: &[u8]) -> Result<Self> {
        let mut reader = csv::Reader::from_reader(table);
        let header = reader.headers().context("the table of traffic has no header")?;
        ensure!(header.iter().eq(HEADER), "the table of traffic has the columns {}", HEADER.join(", "));
        let mut map: Option<Self> = None;
        for (index, record) in reader.records().enumerate() {
            let line = index + 2;
            let wrong = || anyhow!("line {line} of the table of traffic is damaged");
            let record = record.map_err(|_| wrong())?;
            let number = |column: usize| record[column].parse::<u64>().map_err(|_| wrong());
            let (x, y, count) = (number(1)?, number(2)?, number(4)?);
            match &mut map {
                None => {
                    let is_cluster = match &record[0] {
                        "mesh" => false,
                        "cluster" => true,
                        _ => bail!(wrong()),
                    };
                    let tiles = x.checked_mul(y).filter(|tiles| (1..=MOST_TILES).contains(tiles));
                    tiles.ok_or_else(wrong)?;
                    map = Some(Self { is_cluster, columns: x, rows: y, cores: count, counts: BTreeMap::new() });
                }
                Some(map) => {
                    ensure!(x < map.columns && y < map.rows, wrong());
                    map.counts.insert((record[0].to_owned(), x, y, record[3].to_owned()), count);
                }
            }
        }
        map.context("the table of traffic is empty")
    }

    /// The picture, as an SVG: of a mesh its tiles, links and memory controllers, of a cluster a bar for each node.
    pub(crate) fn svg(&self, title: &str) -> Result<String> {
        let mut text = String::new();
        let drawn =
            if self.is_cluster { cluster::draw(self, title, &mut text) } else { mesh::draw(self, title, &mut text) };
        drawn.map_err(|error| anyhow!("cannot draw the heat map: {error}"))?;
        Ok(text)
    }

    /// One line about where most traffic was.
    pub(crate) fn summary(&self) -> String {
        let busiest = |of: fn(&Self, u64, u64) -> u64| {
            let places = self.places("tile").map(|(x, y)| (of(self, x, y), x, y));
            places.filter(|(count, ..)| *count > 0).max_by_key(|(count, x, y)| (*count, u64::MAX - y, u64::MAX - x))
        };
        let said = |what: &str, found: Option<(u64, u64, u64)>| match found {
            Some((count, x, y)) => format!("most {what} at ({x}, {y}): {}", short(count)),
            None => format!("no {what}"),
        };
        if self.is_cluster {
            return format!(
                "a cluster has no mesh: a bar for each node; {}",
                said("packets to an engine", busiest(|map, x, y| map.count("tile", x, y, "received")))
            );
        }
        let link = self.counts.iter().filter(|((place, ..), _)| place == "link").max_by_key(|(_, count)| **count);
        let link = link.map_or("no packet on any link".to_owned(), |((_, x, y, direction), count)| {
            format!("most packets on the link from ({x}, {y}) to the {direction}: {}", short(*count))
        });
        format!("{}; {link}", said("MPB accesses from other tiles", busiest(Self::accesses_by_others)))
    }

    /// What was counted at a place; 0 where nothing was.
    fn count(&self, place: &str, x: u64, y: u64, what: &str) -> u64 {
        self.counts.get(&(place.to_owned(), x, y, what.to_owned())).copied().unwrap_or(0)
    }

    fn sum(&self, place: &str, x: u64, y: u64, whats: &[&str]) -> u64 {
        whats.iter().map(|what| self.count(place, x, y, what)).sum()
    }

    /// Accesses to the MPBs of a tile by cores of other tiles.
    fn accesses_by_others(&self, x: u64, y: u64) -> u64 {
        let all = self.sum("tile", x, y, &["mpb_reads", "mpb_writes"]);
        all.saturating_sub(self.count("tile", x, y, "mpb_own"))
    }

    /// Columns and rows of the places with this name, each once.
    fn places<'m>(&'m self, name: &'m str) -> impl Iterator<Item = (u64, u64)> + 'm {
        let mut last = None;
        let found = self.counts.keys().filter(move |(place, ..)| place == name).map(|(_, x, y, _)| (*x, *y));
        found.filter(move |place| last.replace(*place) != Some(*place))
    }

    /// Name, column and row of the memory controllers.
    fn controllers(&self) -> Vec<(String, u64, u64)> {
        let places = self.counts.keys().filter(|(place, ..)| place.starts_with("controller"));
        let mut all: Vec<_> = places.map(|(place, x, y, _)| (place.clone(), *x, *y)).collect();
        all.dedup();
        all
    }
}

/// The colour of a count: the more, the darker.
fn shade(count: u64, most: u64, full: RGBColor) -> RGBColor {
    if count == 0 {
        return RGBColor(245, 245, 245);
    }
    let part = count as f64 / most.max(1) as f64;
    // Little is to be told from nothing.
    let part = 0.12 + 0.88 * part;
    let mix = |channel: u8| (255.0 + (f64::from(channel) - 255.0) * part) as u8;
    RGBColor(mix(full.0), mix(full.1), mix(full.2))
}

/// A number in at most four letters, or so: 812, 4.1k, 37k, 2.5M.
fn short(count: u64) -> String {
    let scaled = |unit: f64, letter: &str| {
        let value = count as f64 / unit;
        if value < 9.95 { format!("{value:.1}{letter}") } else { format!("{value:.0}{letter}") }
    };
    match count {
        ..1000 => count.to_string(),
        1000..999_500 => scaled(1e3, "k"),
        999_500..999_500_000 => scaled(1e6, "M"),
        _ => scaled(1e9, "G"),
    }
}

/// Centred text that can be read on this colour.
fn label(size: i32, on: RGBColor) -> TextStyle<'static> {
    let is_dark = u32::from(on.0) * 3 + u32::from(on.1) * 6 + u32::from(on.2) < 1300;
    let colour = if is_dark { WHITE } else { BLACK };
    TextStyle {
        font: ("sans-serif", size).into_font(),
        color: colour.to_backend_color(),
        pos: Pos::new(HPos::Center, VPos::Center),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "place,x,y,what,count\nmesh,3,2,cores,12\ntile,0,0,mpb_reads,7\ntile,0,0,mpb_own,3\ntile,2,1,mpb_writes,70\n\
                         link,0,0,east,1200\nlink,2,1,west,5\ncontroller0,0,0,lines_read,9\ncontroller1,2,0,lines_read,0\n";

    #[test]
    fn a_mesh_is_drawn_with_its_numbers() {
        let map = HeatMap::parse(TABLE.as_bytes()).unwrap();
        let svg = map.svg("ring on 12 cores").unwrap();
        for text in ["<svg", "ring on 12 cores", "1.2k", "70", "MC0", "MC1"] {
            assert!(svg.contains(text), "{text} is not in the picture");
        }
        let summary = map.summary();
        assert_eq!(
            summary,
            "most MPB accesses from other tiles at (2, 1): 70; most packets on the link from (0, 0) to the east: 1.2k"
        );
    }

    #[test]
    fn every_size_can_be_drawn() {
        for (columns, rows) in [(1, 1), (1, 9), (6, 4), (64, 32), (200, 1)] {
            for kind in ["mesh", "cluster"] {
                let table = format!("place,x,y,what,count\n{kind},{columns},{rows},cores,1\ntile,0,0,received,3\n");
                let map = HeatMap::parse(table.as_bytes()).unwrap();
                assert!(map.svg("x").unwrap().ends_with("</svg>\n"), "{kind} {columns} {rows}");
            }
        }
        let cluster = HeatMap::parse(b"place,x,y,what,count\ncluster,2,1,cores,4\ntile,1,0,received,3\n").unwrap();
        assert!(cluster.summary().starts_with("a cluster has no mesh"), "{}", cluster.summary());
        assert!(cluster.svg("x").unwrap().contains("node"));
    }

    #[test]
    fn damage_is_named_by_its_line() {
        let message = |table: &str| HeatMap::parse(table.as_bytes()).unwrap_err().to_string();
        assert!(message("").contains("columns") && message("a,b\n").contains("columns"));
        assert!(message("place,x,y,what,count\n").contains("empty"));
        for (line, rows) in [
            (2, "ring,3,2,cores,12\n"),
            (2, "mesh,0,2,cores,12\n"),
            (2, "mesh,99999999999,99999999999,cores,12\n"),
            (3, "mesh,3,2,cores,12\ntile,3,0,x,1\n"),
            (3, "mesh,3,2,cores,12\ntile,1,0,x\n"),
            (4, "mesh,3,2,cores,12\ntile,1,0,x,1\ntile,1,0,x,-1\n"),
        ] {
            let found = message(&format!("place,x,y,what,count\n{rows}"));
            assert_eq!(found, format!("line {line} of the table of traffic is damaged"));
        }
    }

    #[test]
    fn numbers_are_short() {
        let all = [0, 999, 1000, 9949, 9950, 37_400, 999_499, 999_500, 2_500_000, 7_000_000_000];
        assert_eq!(all.map(short), ["0", "999", "1.0k", "9.9k", "10k", "37k", "999k", "1.0M", "2.5M", "7.0G"]);
    }
}
