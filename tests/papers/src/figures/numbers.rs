//! Numbers as figures and tables show them.

/// A number in four digits, or as many as its whole part has, without zeros at the end.
pub(crate) fn number(value: f64) -> String {
    // Also what rounding has left of zero.
    if value.abs() < 1e-12 {
        return "0".into();
    }
    if value.abs() < 1e-4 {
        return format!("{value:.3e}");
    }
    let digits = (3.0 - value.abs().log10().floor()).clamp(0.0, 7.0) as usize;
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// A power of two: 1024 is 1 Ki.
pub(super) fn binary(value: f64) -> String {
    let units = [(30, "Gi"), (20, "Mi"), (10, "Ki")].map(|(power, unit)| (2_f64.powi(power), unit));
    match units.iter().find(|(size, _)| value >= *size) {
        Some((size, unit)) => format!("{} {unit}", number(value / size)),
        None => number(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits() {
        let texts = [0.0, 25.8, 115.25, 1.0 / 3.0, 123_456.7, 0.000_012_3, 0.03 * 7.0, -2.5].map(number);
        assert_eq!(texts, ["0", "25.8", "115.2", "0.3333", "123457", "1.230e-5", "0.21", "-2.5"]);
    }

    #[test]
    fn powers_of_two_have_units() {
        assert_eq!([1.0, 512.0, 1024.0, 65536.0, 1048576.0].map(binary), ["1", "512", "1 Ki", "64 Ki", "1 Mi"]);
    }
}
