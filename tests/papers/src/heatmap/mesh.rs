//! A mesh: tiles as squares, links as bars between them, memory controllers at its sides.

use super::{HeatMap, label, shade, short};
use plotters::{
    coord::Shift,
    prelude::{BLACK, Color, DrawingArea, IntoDrawingArea, RGBColor, Rectangle, SVGBackend, Text, WHITE},
};
use std::error::Error;

/// Pixels around the mesh: room for controllers at the sides, and above for the title.
const SIDE: i32 = 110;
const ABOVE: i32 = 60;
const BELOW: i32 = 95;

/// Pixels of all columns together, if they can be that few.
const WIDTH: i32 = 1400;

/// Pixels from one tile to the next.
const WIDEST: i32 = 120;
const NARROWEST: i32 = 14;

/// Pixels of a tile below which there is no room for numbers.
const WITH_NUMBERS: i32 = 70;

const TILES: RGBColor = RGBColor(178, 24, 43);
const LINKS: RGBColor = RGBColor(33, 102, 172);
const CONTROLLERS: RGBColor = RGBColor(27, 120, 55);

const DIRECTIONS: [&str; 4] = ["west", "east", "south", "north"];

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), Box<dyn Error>>;

/// Where things are on the picture.
struct Places {
    pitch: i32,
    rows: i32,
}

impl Places {
    /// Left and upper corner, right and lower corner of a tile. Row 0 is at the bottom.
    fn tile(&self, x: u64, y: u64) -> [(i32, i32); 2] {
        let left = SIDE + x as i32 * self.pitch + self.gap() / 2;
        let top = ABOVE + (self.rows - 1 - y as i32) * self.pitch + self.gap() / 2;
        let side = self.pitch - self.gap();
        [(left, top), (left + side, top + side)]
    }

    /// Between two tiles.
    fn gap(&self) -> i32 {
        (self.pitch * 2 / 5).max(4)
    }

    /// The bar of the link from a tile in a direction: of two neighbours' links, those to the east and north are above
    /// and left of those back.
    fn link(&self, x: u64, y: u64, direction: &str) -> [(i32, i32); 2] {
        let [(left, top), (right, bottom)] = self.tile(x, y);
        let (gap, side) = (self.gap(), right - left);
        let (third, bar) = (side / 6, (side / 4).max(2));
        match direction {
            "east" => [(right + 1, top + third), (right + gap - 1, top + third + bar)],
            "west" => [(left - gap + 1, bottom - third - bar), (left - 1, bottom - third)],
            "north" => [(left + third, top - gap + 1), (left + third + bar, top - 1)],
            _ => [(right - third - bar, bottom + 1), (right - third, bottom + gap - 1)],
        }
    }
}

fn middle([(left, top), (right, bottom)]: [(i32, i32); 2]) -> (i32, i32) {
    (left.midpoint(right), top.midpoint(bottom))
}

pub(super) fn draw(map: &HeatMap, title: &str, text: &mut String) -> Drawn {
    let pitch = (WIDTH / map.columns as i32).clamp(NARROWEST, WIDEST);
    let places = Places { pitch, rows: map.rows as i32 };
    let size = ((2 * SIDE + pitch * map.columns as i32).max(720) as u32, (ABOVE + BELOW + pitch * places.rows) as u32);
    let area = SVGBackend::with_string(text, size).into_drawing_area();
    area.fill(&WHITE)?;
    let heading = format!("{title}: {} × {} tiles, {} cores", map.columns, map.rows, map.cores);
    area.draw(&Text::new(heading, (size.0 as i32 / 2, 22), label(18, WHITE)))?;
    let most_tile = draw_tiles(map, &places, &area)?;
    let most_link = draw_links(map, &places, &area)?;
    let most_controller = draw_controllers(map, &places, &area)?;
    let legend = [
        (TILES, "accesses to a tile's MPBs by cores of others; own: by its own cores, polls among them", most_tile),
        (LINKS, "packets on a link; upper and left bars go east and north, lower and right ones back", most_link),
        (
            CONTROLLERS,
            "accesses to memory: shared lines and words (s), private lines and those of flushes (p)",
            most_controller,
        ),
    ];
    for (place, (colour, what, most)) in legend.into_iter().enumerate() {
        let top = size.1 as i32 - BELOW + 18 + 24 * place as i32;
        draw_scale(&area, colour, top)?;
        let end = format!("{} {what}", short(most));
        area.draw(&Text::new("0", (12, top), ("sans-serif", 12)))?;
        area.draw(&Text::new(end, (138, top), ("sans-serif", 12)))?;
    }
    area.present()?;
    Ok(())
}

fn draw_scale(area: &Area<'_>, colour: RGBColor, top: i32) -> Drawn {
    const STEPS: i32 = 10;
    for step in 0..=STEPS {
        let shade = shade(step as u64, STEPS as u64, colour);
        let left = 24 + step * 10;
        area.draw(&Rectangle::new([(left, top), (left + 10, top + 12)], shade.filled()))?;
    }
    Ok(())
}

fn draw_tiles(map: &HeatMap, places: &Places, area: &Area<'_>) -> Result<u64, Box<dyn Error>> {
    let all = || (0..map.rows).flat_map(|y| (0..map.columns).map(move |x| (x, y)));
    let most = all().map(|(x, y)| map.accesses_by_others(x, y)).max().unwrap_or(0);
    for (x, y) in all() {
        let (corners, colour) = (places.tile(x, y), shade(map.accesses_by_others(x, y), most, TILES));
        area.draw(&Rectangle::new(corners, colour.filled()))?;
        area.draw(&Rectangle::new(corners, BLACK.mix(0.4)))?;
        if places.pitch >= WITH_NUMBERS {
            let own = map.count("tile", x, y, "mpb_own");
            let lines = [format!("({x}, {y})"), short(map.accesses_by_others(x, y)), format!("own {}", short(own))];
            draw_lines(area, corners, colour, lines)?;
        }
    }
    Ok(most)
}

/// Three lines of text in a box of this colour.
fn draw_lines(area: &Area<'_>, corners: [(i32, i32); 2], colour: RGBColor, lines: [String; 3]) -> Drawn {
    let (across, down) = middle(corners);
    for (line, offset) in lines.into_iter().zip([-16, 0, 16]) {
        area.draw(&Text::new(line, (across, down + offset), label(13, colour)))?;
    }
    Ok(())
}

fn draw_links(map: &HeatMap, places: &Places, area: &Area<'_>) -> Result<u64, Box<dyn Error>> {
    let most = map.counts.iter().filter(|((place, ..), _)| place == "link").map(|(_, count)| *count).max();
    let most = most.unwrap_or(0);
    for y in 0..map.rows {
        for x in 0..map.columns {
            let is_there = [x > 0, x + 1 < map.columns, y > 0, y + 1 < map.rows];
            for (direction, _) in DIRECTIONS.into_iter().zip(is_there).filter(|(_, is_there)| *is_there) {
                let packets = map.count("link", x, y, direction);
                let (corners, colour) = (places.link(x, y, direction), shade(packets, most, LINKS));
                area.draw(&Rectangle::new(corners, colour.filled()))?;
                if places.pitch >= WITH_NUMBERS && packets > 0 {
                    area.draw(&Text::new(short(packets), middle(corners), label(11, colour)))?;
                }
            }
        }
    }
    Ok(most)
}

/// Those in the outer columns are beside the mesh; others are named in their tiles.
fn draw_controllers(map: &HeatMap, places: &Places, area: &Area<'_>) -> Result<u64, Box<dyn Error>> {
    let all = map.controllers();
    let counts = |name: &str, x, y| {
        let shared = map.sum(name, x, y, &["lines_read", "lines_written", "words"]);
        (shared, map.count(name, x, y, "private_lines"))
    };
    let most = all.iter().map(|(name, x, y)| counts(name, *x, *y)).map(|(shared, private)| shared + private).max();
    let most = most.unwrap_or(0);
    for (name, x, y) in &all {
        let ((shared, private), [(left, top), (right, bottom)]) = (counts(name, *x, *y), places.tile(*x, *y));
        let colour = shade(shared + private, most, CONTROLLERS);
        let name = name.replace("controller", "MC");
        let corners = if *x == 0 {
            [(8, top), (SIDE - 8, bottom)]
        } else if x + 1 == map.columns {
            let edge = SIDE + places.pitch * map.columns as i32;
            [(edge + 8, top), (edge + SIDE - 8, bottom)]
        } else {
            [(left, bottom - 3), (right, bottom + 3)]
        };
        area.draw(&Rectangle::new(corners, colour.filled()))?;
        area.draw(&Rectangle::new(corners, BLACK.mix(0.4)))?;
        let is_beside = *x == 0 || x + 1 == map.columns;
        if places.pitch < WITH_NUMBERS || !is_beside {
            continue;
        }
        draw_lines(area, corners, colour, [name, format!("s {}", short(shared)), format!("p {}", short(private))])?;
    }
    Ok(most)
}
