//! Shaded reliefs: maps of heights as one sees land from above, with the light from the north-west.
//!
//! Maps side by side have the same light, colours and exaggeration of heights, those that suit the first of them, so
//! that what differs between the pictures is the land.

use noto_sans_mono_bitmap::{FontWeight, RasterHeight, get_raster, get_raster_width};

/// A map of heights, row by row from the north, each from the west.
#[derive(Clone, Copy)]
pub(crate) struct Heights<'a> {
    pub(crate) width: usize,
    pub(crate) values: &'a [u16],
}

/// Red, green and blue.
type Colour = [u8; 3];

/// A picture, row by row.
pub(crate) struct Picture {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) pixels: Vec<u8>,
}

/// What the maps lie on, and what is written there.
const PAPER: Colour = [250, 248, 243];
const INK: Colour = [64, 58, 52];

/// Colours of heights, from the lowest to the highest: meadows, dry grass, rock, snow.
const TINTS: [[f32; 3]; 6] = [
    [98.0, 140.0, 100.0],
    [150.0, 172.0, 116.0],
    [206.0, 192.0, 140.0],
    [188.0, 148.0, 108.0],
    [198.0, 178.0, 162.0],
    [248.0, 246.0, 244.0],
];

/// Pixels of a map's width that are worth looking at; smaller maps are enlarged.
const WORTHWHILE_WIDTH: usize = 800;

/// The most pixels of a side that a cell becomes.
const LARGEST_CELL: usize = 32;

/// Pixels around the maps, and between them.
const MARGIN: usize = 24;

const LETTERS: (FontWeight, RasterHeight) = (FontWeight::Regular, RasterHeight::Size32);

/// Pixels above a map, where its title is.
const TITLE: usize = MARGIN + LETTERS.1.val() + 8;

/// The slope that the mean slope of the first map is made.
const MEAN_SLOPE: f32 = 0.55;

/// The direction of the light, as far to the east, to the south and up: from the north-west, half-way up the sky.
const LIGHT: [f32; 3] = [-0.5, -0.5, std::f32::consts::FRAC_1_SQRT_2];

/// How bright the darkest slope is; flat land is 1.
const SHADOW: f32 = 0.3;

/// Draws maps of equal size side by side, each below its title.
pub(crate) fn draw(maps: &[(&str, Heights<'_>)]) -> Picture {
    let Some((_, first)) = maps.first() else { return Picture { width: 0, height: 0, pixels: Vec::new() } };
    let (columns, rows) = (first.width, first.values.len() / first.width);
    let look = Look::of(first);
    let cell = WORTHWHILE_WIDTH.div_ceil(columns).min(LARGEST_CELL);
    let step = columns * cell + MARGIN;
    let (width, height) = (MARGIN + maps.len() * step, TITLE + rows * cell + MARGIN);
    let mut picture = Picture { width, height, pixels: PAPER.repeat(width * height) };
    for (place, (title, heights)) in maps.iter().enumerate() {
        let left = MARGIN + place * step;
        picture.write(title, left, MARGIN);
        let shades = Shades::new(heights, &look);
        for y in 0..rows * cell {
            for x in 0..columns * cell {
                picture.put(left + x, TITLE + y, shades.colour(x, y, cell));
            }
        }
    }
    picture
}

impl Picture {
    fn put(&mut self, x: usize, y: usize, colour: Colour) {
        let at = (y * self.width + x) * colour.len();
        self.pixels[at..at + colour.len()].copy_from_slice(&colour);
    }

    /// Writes letters, as many as there is room for.
    fn write(&mut self, text: &str, left: usize, top: usize) {
        let (letter_width, right) = (get_raster_width(LETTERS.0, LETTERS.1), self.width);
        let lefts = (left..).step_by(letter_width).take_while(|left| left + letter_width <= right);
        for (left, letter) in lefts.zip(text.chars()) {
            let Some(letter) = get_raster(letter, LETTERS.0, LETTERS.1) else { continue };
            for (y, row) in letter.rows().enumerate() {
                for (x, ink) in row.iter().enumerate() {
                    let colour = [0, 1, 2].map(|part| mix(PAPER[part], INK[part], *ink));
                    self.put(left + x, top + y, colour);
                }
            }
        }
    }
}

/// `amount` parts of 255 of `ink` over `paper`.
fn mix(paper: u8, ink: u8, amount: u8) -> u8 {
    let (paper, ink, amount) = (u16::from(paper), u16::from(ink), u16::from(amount));
    u8::try_from((paper * (255 - amount) + ink * amount) / 255).unwrap_or(u8::MAX)
}

/// What maps that are compared have in common.
struct Look {
    lowest: f32,
    range: f32,
    exaggeration: f32,
}

impl Look {
    fn of(heights: &Heights<'_>) -> Self {
        let extreme = |found: Option<&u16>| f32::from(found.copied().unwrap_or_default());
        let lowest = extreme(heights.values.iter().min());
        let range = (extreme(heights.values.iter().max()) - lowest).max(1.0);
        let slopes = (0..heights.values.len()).map(|cell| {
            let [east, south] = heights.slope(cell);
            f64::from(east.hypot(south))
        });
        let mean = slopes.sum::<f64>() / heights.values.len() as f64;
        // Flat land stays flat.
        Self { lowest, range, exaggeration: if mean > 0.0 { MEAN_SLOPE / mean as f32 } else { 0.0 } }
    }
}

impl Heights<'_> {
    /// How much the land rises from a cell to the next, towards the east and towards the south: Horn's mean over the
    /// eight neighbours. At the end of the map the outermost cells go on.
    fn slope(&self, cell: usize) -> [f32; 2] {
        let (x, y) = (cell % self.width, cell / self.width);
        let (last_column, last_row) = (self.width - 1, self.values.len() / self.width - 1);
        let xs = [x.saturating_sub(1), x, (x + 1).min(last_column)];
        let ys = [y.saturating_sub(1), y, (y + 1).min(last_row)];
        let at = |column: usize, row: usize| f32::from(self.values[ys[row] * self.width + xs[column]]);
        let weighted = |line: [f32; 3]| line[0] + 2.0 * line[1] + line[2];
        let column = |column: usize| weighted([0, 1, 2].map(|row| at(column, row)));
        let row = |row: usize| weighted([0, 1, 2].map(|column| at(column, row)));
        [(column(2) - column(0)) / 8.0, (row(2) - row(0)) / 8.0]
    }
}

/// A map whose cells have colours.
struct Shades {
    columns: usize,
    rows: usize,
    colours: Vec<[f32; 3]>,
}

impl Shades {
    fn new(heights: &Heights<'_>, look: &Look) -> Self {
        let colours = heights.values.iter().enumerate().map(|(cell, height)| {
            let brightness = brightness(heights.slope(cell).map(|slope| slope * look.exaggeration));
            tint((f32::from(*height) - look.lowest) / look.range).map(|part| part * brightness)
        });
        let rows = heights.values.len() / heights.width;
        Self { columns: heights.width, rows, colours: colours.collect() }
    }

    /// The colour of a pixel, where a cell has `cell` pixels in a row: between those of the cells around it.
    fn colour(&self, x: usize, y: usize, cell: usize) -> Colour {
        // Cells have their colours in their middles.
        let place = |pixel: usize, cells: usize| {
            let place = ((pixel as f32 + 0.5) / cell as f32 - 0.5).clamp(0.0, (cells - 1) as f32);
            let first = place as usize;
            (first, (first + 1).min(cells - 1), place.fract())
        };
        let ((west, east, right), (north, south, down)) = (place(x, self.columns), place(y, self.rows));
        let at = |column: usize, row: usize| &self.colours[row * self.columns + column];
        let between = |one: f32, other: f32, way: f32| one + (other - one) * way;
        [0, 1, 2].map(|part| {
            let upper = between(at(west, north)[part], at(east, north)[part], right);
            let lower = between(at(west, south)[part], at(east, south)[part], right);
            between(upper, lower, down).clamp(0.0, 255.0) as u8
        })
    }
}

/// The brightness of land with this slope towards the east and the south; flat land has 1.
fn brightness([east, south]: [f32; 2]) -> f32 {
    let length = (east * east + south * south + 1.0).sqrt();
    let lit = ((-east * LIGHT[0] - south * LIGHT[1] + LIGHT[2]) / length).max(0.0);
    SHADOW + (1.0 - SHADOW) * lit / LIGHT[2]
}

/// The colour of a height, of which 0 is the lowest and 1 the highest.
fn tint(height: f32) -> [f32; 3] {
    let place = height.clamp(0.0, 1.0) * (TINTS.len() - 1) as f32;
    let below = (place as usize).min(TINTS.len() - 2);
    let way = place - below as f32;
    [0, 1, 2].map(|part| TINTS[below][part] + (TINTS[below + 1][part] - TINTS[below][part]) * way)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pixel(picture: &Picture, x: usize, y: usize) -> Colour {
        let at = (y * picture.width + x) * 3;
        [0, 1, 2].map(|part| picture.pixels[at + part])
    }

    fn sum(colour: Colour) -> u32 {
        colour.into_iter().map(u32::from).sum()
    }

    /// A hill in the middle of a plain of `cells` × `cells` cells.
    fn hill(cells: usize) -> Vec<u16> {
        let far = |place: usize| (place as f32 - (cells - 1) as f32 / 2.0).powi(2);
        (0..cells * cells)
            .map(|cell| 1000 + (300.0 * (-(far(cell % cells) + far(cell / cells)) / (cells as f32 * 2.0)).exp()) as u16)
            .collect()
    }

    #[test]
    fn slopes_are_those_of_a_plane() {
        let plane: Vec<u16> = (0..25).map(|cell| 100 + 3 * (cell % 5) + 7 * (cell / 5)).collect();
        assert_eq!(Heights { width: 5, values: &plane }.slope(12), [3.0, 7.0]);
    }

    #[test]
    fn light_comes_from_the_north_west() {
        let [north_west, flat, south_east] = [[0.5, 0.5], [0.0, 0.0], [-0.5, -0.5]].map(brightness);
        assert!(north_west > flat && flat > south_east && south_east >= SHADOW);
        assert_eq!(flat, 1.0);
        assert_eq!(brightness([0.3, -0.3]), brightness([-0.3, 0.3]));
    }

    #[test]
    fn a_hill_is_bright_towards_the_light_and_dark_behind() {
        let values = hill(40);
        let picture = draw(&[("hill", Heights { width: 40, values: &values })]);
        let cell = WORTHWHILE_WIDTH / 40;
        let at = |column: usize, row: usize| sum(pixel(&picture, MARGIN + column * cell, TITLE + row * cell));
        assert!(at(14, 14) > at(26, 26), "{} {}", at(14, 14), at(26, 26));
    }

    #[test]
    fn maps_side_by_side_have_one_look() {
        let (steep, flat) = (hill(40), vec![1000; 1600]);
        let [steep, flat] = [&steep, &flat].map(|values| Heights { width: 40, values });
        let both = draw(&[("before", steep), ("after", flat)]);
        let alone = draw(&[("after", flat)]);
        assert_eq!((both.width, both.height), (2 * alone.width - MARGIN, alone.height));
        assert_eq!(both.pixels.len(), both.width * both.height * 3);
        // Flat land is the plain that the hill stands in, and nothing of it is darker than that.
        let right = MARGIN + WORTHWHILE_WIDTH + MARGIN;
        let plain = pixel(&both, MARGIN, TITLE);
        let same = (0..WORTHWHILE_WIDTH).all(|x| pixel(&both, right + x, TITLE + 400) == plain);
        assert!(same && plain == TINTS[0].map(|part| part as u8), "{plain:?}");
    }

    #[test]
    fn titles_are_written() {
        let values = [1; 4];
        let written = |title| draw(&[(title, Heights { width: 2, values: &values })]);
        let ink = |picture: &Picture| picture.pixels.iter().map(|part| u64::from(*part)).sum::<u64>();
        assert!(ink(&written("before")) < ink(&written("")));
        // What has no room is left out.
        assert_eq!(written(&"before".repeat(100)).width, written("").width);
    }
}
