//! From the power spectra that programs send to plots that one can look at and tables that one can compute with.

use anyhow::{Result, anyhow, ensure};
use plotters::prelude::{
    ChartBuilder, Color, IntoDrawingArea, IntoFont, LineSeries, RGBColor, Rectangle, SVGBackend, SeriesLabelPosition,
    WHITE,
};
use std::{fmt::Write, ops::Range};

/// Pixels of a plot.
const SIZE: (u32, u32) = (1200, 600);

/// Points of a curve at most: where there are more bins, a point stands for several.
const POINTS: usize = 1000;

/// Decibels below the strongest bin at which the plot ends; rounding errors are there.
const DEPTH_DB: f64 = 340.0;

const STRONGEST: RGBColor = RGBColor(170, 190, 220);
const MEAN: RGBColor = RGBColor(20, 60, 120);

/// The power of frequency bins.
pub(crate) struct Spectrum {
    power: Vec<f32>,
    /// Frequencies from one bin to the next, in periods per sample.
    step: f64,
}

impl Spectrum {
    /// Reads what a program sends: 32-bit floating-point numbers, lower bytes first. A power of two is all bins of a
    /// complex signal, one more than a power of two those of a real one up to half a period per sample.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self> {
        let (numbers, rest) = bytes.as_chunks::<4>();
        let power: Vec<_> = numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        ensure!(rest.is_empty() && power.iter().all(|power| *power >= 0.0), "the spectrum is damaged");
        let bins = power.len();
        let step = match bins {
            // Of four real samples there are three bins.
            4.. if bins.is_power_of_two() => 1.0 / bins as f64,
            3.. if (bins - 1).is_power_of_two() => 0.5 / (bins - 1) as f64,
            _ => return Err(anyhow!("no spectrum has {bins} bins")),
        };
        Ok(Self { power, step })
    }

    /// The table: one line for each bin.
    pub(crate) fn csv(&self) -> String {
        let mut text = String::from("bin,periods_per_sample,power\n");
        for (bin, power) in self.power.iter().enumerate() {
            // Writing to a string does not fail.
            let _ = writeln!(text, "{bin},{},{power:e}", bin as f64 * self.step);
        }
        text
    }

    /// For each point of a curve its frequency, and the strongest and the mean power of its bins.
    fn points(&self) -> impl Iterator<Item = (f64, f64, f64)> {
        let per_point = self.power.len().div_ceil(POINTS);
        self.power.chunks(per_point).enumerate().map(move |(point, bins)| {
            let at = (point * per_point) as f64 + (bins.len() - 1) as f64 / 2.0;
            let strongest = bins.iter().copied().fold(0.0, f32::max);
            let mean = bins.iter().copied().map(f64::from).sum::<f64>() / bins.len() as f64;
            (at * self.step, f64::from(strongest), mean)
        })
    }

    /// Decibels that the plot shows.
    fn range_db(&self) -> Range<f64> {
        let strongest = decibels(self.points().map(|(_, strongest, _)| strongest).fold(0.0, f64::max));
        let weakest = self.points().map(|(_, _, mean)| decibels(mean)).fold(f64::INFINITY, f64::min);
        let bottom = weakest.max(strongest - DEPTH_DB);
        // A flat spectrum has a plot, too.
        (bottom - 5.0).floor()..(strongest + 5.0).ceil()
    }

    /// The plot: decibels over frequencies, as an SVG.
    pub(crate) fn svg(&self) -> Result<String> {
        let mut text = String::new();
        self.draw(&mut text).map_err(|error| anyhow!("cannot draw the spectrum: {error}"))?;
        Ok(text)
    }

    fn draw(&self, text: &mut String) -> Result<(), Box<dyn std::error::Error>> {
        let area = SVGBackend::with_string(text, SIZE).into_drawing_area();
        area.fill(&WHITE)?;
        let frequencies = 0.0..self.step * (self.power.len() - 1) as f64;
        let range = self.range_db();
        let bottom = range.start;
        let title = format!("Power spectrum, {} bins", self.power.len());
        let mut chart = ChartBuilder::on(&area)
            .caption(title, ("sans-serif", 20).into_font())
            .margin(15)
            .x_label_area_size(45)
            .y_label_area_size(65)
            .build_cartesian_2d(frequencies, range)?;
        chart
            .configure_mesh()
            .x_desc("frequency (periods per sample)")
            .y_desc("power (dB)")
            .x_label_formatter(&|frequency| format!("{frequency:.2}"))
            .y_label_formatter(&|power| format!("{power:.0}"))
            .label_style(("sans-serif", 14))
            .draw()?;
        let curve =
            |of: fn((f64, f64, f64)) -> f64| self.points().map(move |point| (point.0, decibels(of(point)).max(bottom)));
        for (name, colour, curve) in
            [("strongest", STRONGEST, curve(|(_, strongest, _)| strongest)), ("mean", MEAN, curve(|(_, _, mean)| mean))]
        {
            chart
                .draw_series(LineSeries::new(curve, &colour))?
                .label(format!("{name} of the bins of a point"))
                .legend(move |(x, y)| Rectangle::new([(x, y - 3), (x + 15, y + 3)], colour.filled()));
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperRight)
            .label_font(("sans-serif", 14))
            .border_style(MEAN)
            .background_style(WHITE)
            .draw()?;
        area.present()?;
        Ok(())
    }
}

/// Nothing has few decibels, but some.
fn decibels(power: f64) -> f64 {
    10.0 * power.max(1e-45).log10()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spectrum(bins: usize) -> Result<Spectrum> {
        let bytes: Vec<u8> = (0..bins).flat_map(|bin| ((bin * bin) as f32).to_le_bytes()).collect();
        Spectrum::parse(&bytes)
    }

    #[test]
    fn frequencies_end_where_the_signal_says() {
        let last = |bins| spectrum(bins).unwrap().csv().lines().last().unwrap().to_owned();
        assert_eq!((last(5), last(4), last(3)), ("4,0.5,1.6e1".into(), "3,0.75,9e0".into(), "2,0.5,4e0".into()));
        assert_eq!(spectrum(65).unwrap().csv().lines().count(), 66);
        for bins in [0, 1, 2, 6, 7, 12] {
            assert!(spectrum(bins).is_err(), "{bins}");
        }
        assert!(Spectrum::parse(b"12345").is_err() && Spectrum::parse(&f32::NAN.to_le_bytes().repeat(5)).is_err());
    }

    #[test]
    fn a_point_stands_for_several_bins() {
        let points: Vec<_> = spectrum(2049).unwrap().points().collect();
        assert_eq!(points.len(), 683);
        assert_eq!(points[0], (0.5 / 2048.0, 4.0, 5.0 / 3.0));
    }

    #[test]
    fn plots_have_axes_and_curves() {
        for bins in [3, 4, 1025, 1 << 14] {
            let svg = spectrum(bins).unwrap().svg().unwrap();
            assert!(
                svg.starts_with("<svg") && svg.contains("frequency (periods per sample)") && svg.contains("power (dB)")
            );
            assert!(svg.len() < 200_000, "{bins} bins are {} letters", svg.len());
        }
        let silence = Spectrum::parse(&[0; 4 * 9]).unwrap();
        assert!(silence.svg().is_ok());
    }
}
