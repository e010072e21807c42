//! Lines through points, by least squares.

/// The straight line y = `slope` x + `intercept` that is next to points by least squares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Fit {
    pub(crate) slope: f64,
    pub(crate) intercept: f64,
    /// The coefficient of determination: the share of the variance of y that the line explains. 1 where all points are
    /// on it, 0 where the mean is as good.
    pub(crate) r_squared: f64,
}

impl Fit {
    /// The line through points (x, y), if there are two of different x at least.
    pub(crate) fn linear(points: impl IntoIterator<Item = (f64, f64)>) -> Option<Self> {
        let points: Vec<_> = points.into_iter().collect();
        let count = points.len() as f64;
        let mean_x = points.iter().map(|(x, _)| x).sum::<f64>() / count;
        let mean_y = points.iter().map(|(_, y)| y).sum::<f64>() / count;
        let sum = |term: fn(f64, f64) -> f64| points.iter().map(|(x, y)| term(x - mean_x, y - mean_y)).sum::<f64>();
        let (xx, xy, yy) = (sum(|x, _| x * x), sum(|x, y| x * y), sum(|_, y| y * y));
        // Without points, or with one, there is no variance either.
        if points.len() < 2 || xx == 0.0 {
            return None;
        }
        let slope = xy / xx;
        // Points on a level are on a line.
        let r_squared = if yy == 0.0 { 1.0 } else { xy * xy / (xx * yy) };
        Some(Self { slope, intercept: mean_y - slope * mean_x, r_squared })
    }

    /// The curve y = `slope` ln(x) + `intercept` through points of positive x.
    pub(crate) fn logarithmic(points: impl IntoIterator<Item = (f64, f64)>) -> Option<Self> {
        Self::linear(points.into_iter().map(|(x, y)| (x.ln(), y)))
    }

    /// The y of the line at x.
    pub(crate) fn at(&self, x: f64) -> f64 {
        self.slope * x + self.intercept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_near(value: f64, expected: f64) -> bool {
        (value - expected).abs() < 1e-9
    }

    #[test]
    fn exact_data_gives_exact_coefficients() {
        let line = Fit::linear([(1.0, 5.0), (2.0, 8.0), (10.0, 32.0)]).unwrap();
        assert!(is_near(line.slope, 3.0) && is_near(line.intercept, 2.0) && is_near(line.r_squared, 1.0));
        let curve = Fit::logarithmic([1.0, 2.0, 40.0, 4096.0].map(|x: f64| (x, 2.5 * x.ln() - 0.75))).unwrap();
        assert!(is_near(curve.slope, 2.5) && is_near(curve.intercept, -0.75) && is_near(curve.r_squared, 1.0));
        assert!(is_near(curve.at(4.0_f64.ln()), 2.5 * 4.0_f64.ln() - 0.75));
    }

    #[test]
    fn coefficients_of_determination_of_known_sets() {
        // Anscombe's quartet: four sets of very different shape, each with the line 3 + x/2 and R2 0.67.
        let x = [10.0, 8.0, 13.0, 9.0, 11.0, 14.0, 6.0, 4.0, 12.0, 7.0, 5.0];
        let first = [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68];
        let second = [9.14, 8.14, 8.74, 8.77, 9.26, 8.10, 6.13, 3.10, 9.13, 7.26, 4.74];
        for y in [first, second] {
            let fit = Fit::linear(x.into_iter().zip(y)).unwrap();
            assert!((fit.slope - 0.5).abs() < 1e-3 && (fit.intercept - 3.0).abs() < 2e-3, "{fit:?}");
            assert!((fit.r_squared - 0.6665).abs() < 5e-4, "{fit:?}");
        }
        assert!(is_near(Fit::linear([(1.0, 7.0), (2.0, 7.0), (3.0, 7.0)]).unwrap().r_squared, 1.0));
        assert!(is_near(Fit::linear([(1.0, 1.0), (2.0, 0.0), (3.0, 1.0)]).unwrap().r_squared, 0.0));
    }

    #[test]
    fn a_line_needs_two_points_apart() {
        assert_eq!(Fit::linear([]), None);
        assert_eq!(Fit::linear([(1.0, 2.0)]), None);
        assert_eq!(Fit::linear([(1.0, 2.0), (1.0, 3.0)]), None);
        assert_eq!(Fit::logarithmic([(1.0, 2.0)]), None);
    }

    #[test]
    fn a_logarithm_fits_its_own_growth_better_than_a_line_does() {
        let points = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0].map(|x: f64| (x, 2.5 * x.ln() + 0.4));
        let [curve, line] = [Fit::logarithmic(points), Fit::linear(points)].map(|fit| fit.unwrap().r_squared);
        assert!(curve > 0.999_999 && line < 0.9, "{curve} {line}");
    }
}
