//! `external32`: numbers as all machines have them, the most significant byte first.

use super::basics::Format;

/// Bytes of the longest number.
pub(crate) const LONGEST: usize = 16;

/// The exponent and fraction of the x87's numbers, and of those of 128 bits, which have the same bias.
const EXPONENT_BITS: u32 = 15;
const INFINITY: u128 = (1 << EXPONENT_BITS) - 1;

/// A number of the machine's in `external32`, in so many bytes.
pub(crate) fn to_external(format: Format, bytes: &[u8], external: &mut [u8]) {
    let number = match format {
        Format::Extended => quadruple(load(&bytes[..10])),
        // What the bytes stand for is kept when they become more.
        Format::Signed(_) if bytes.last().is_some_and(|byte| byte & 0x80 != 0) => {
            load(bytes) | u128::MAX.checked_shl(8 * bytes.len() as u32).unwrap_or(0)
        }
        _ => load(bytes),
    };
    let len = external.len();
    external.copy_from_slice(&number.to_be_bytes()[LONGEST - len..]);
}

/// The machine's number for one in `external32`.
pub(crate) fn from_external(format: Format, external: &[u8], bytes: &mut [u8]) {
    let mut all = [0; LONGEST];
    if matches!(format, Format::Signed(_)) && external.first().is_some_and(|byte| byte & 0x80 != 0) {
        all = [0xFF; LONGEST];
    }
    all[LONGEST - external.len()..].copy_from_slice(external);
    let number = u128::from_be_bytes(all);
    if matches!(format, Format::Extended) {
        bytes.fill(0);
        bytes[..10].copy_from_slice(&extended(number).to_le_bytes()[..10]);
    } else {
        let len = bytes.len();
        bytes.copy_from_slice(&number.to_le_bytes()[..len]);
    }
}

fn load(bytes: &[u8]) -> u128 {
    let mut all = [0; LONGEST];
    all[..bytes.len()].copy_from_slice(bytes);
    u128::from_le_bytes(all)
}

/// The number of 128 bits for one of 80, which has its first bit of the fraction written out, unlike the other.
fn quadruple(extended: u128) -> u128 {
    let (sign, exponent) = (extended >> 79 & 1, extended >> 64 & INFINITY);
    let fraction = extended & u128::from(u64::MAX);
    let (exponent, fraction) = if exponent == 0 && fraction != 0 {
        // Below the normal range of one, with the same exponent, of the other too.
        (0, fraction)
    } else {
        (exponent, fraction & u128::from(u64::MAX >> 1))
    };
    sign << 127 | exponent << 112 | fraction << 49
}

/// The number of 80 bits for one of 128: what it has no bits for is rounded off, to the nearest, of two to the even one.
fn extended(quadruple: u128) -> u128 {
    let (sign, exponent) = (quadruple >> 127, quadruple >> 112 & INFINITY);
    let fraction = quadruple & ((1 << 112) - 1);
    let (kept, lost) = (fraction >> 49, fraction & ((1 << 49) - 1));
    let half = 1 << 48;
    let first = u128::from(exponent != 0) << 63;
    if exponent == INFINITY {
        // No fraction that was something becomes nothing, which would be infinite instead of no number.
        let kept = kept | u128::from(fraction != 0 && kept == 0);
        return sign << 79 | exponent << 64 | first | kept;
    }
    let mut number = exponent << 64 | first | kept;
    if lost > half || (lost == half && kept & 1 == 1) {
        number += 1;
        // The carry of all ones is the next exponent's first number.
        if number & u128::from(u64::MAX) == 0 {
            number |= 1 << 63;
        }
        if number >> 64 & INFINITY == 0 && number >> 63 & 1 == 1 {
            number |= 1 << 64;
        }
    }
    sign << 79 | number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        for (format, bytes) in [
            (Format::Signed(4), &(-2_i32).to_le_bytes()[..]),
            (Format::Unsigned(2), &[1, 2]),
            (Format::Float(8), &1.5_f64.to_le_bytes()),
            (Format::Bytes(1), &[7]),
        ] {
            let (mut external, mut back) = (vec![0; bytes.len()], vec![9; bytes.len()]);
            to_external(format, bytes, &mut external);
            assert!(external.iter().eq(bytes.iter().rev()));
            from_external(format, &external, &mut back);
            assert_eq!(back, bytes);
        }
    }

    #[test]
    fn integers_are_as_long_as_they_are_there() {
        let (mut external, mut back) = ([0; 4], [0; 8]);
        to_external(Format::Signed(8), &(-3_i64).to_le_bytes(), &mut external);
        assert_eq!(external, (-3_i32).to_be_bytes());
        from_external(Format::Signed(8), &external, &mut back);
        assert_eq!(back, (-3_i64).to_le_bytes());
        let mut external = [0; 8];
        to_external(Format::Signed(4), &(-3_i32).to_le_bytes(), &mut external);
        assert_eq!(external, (-3_i64).to_be_bytes());
        to_external(Format::Unsigned(4), &u32::MAX.to_le_bytes(), &mut external);
        assert_eq!(external, u64::from(u32::MAX).to_be_bytes());
    }

    #[test]
    fn long_doubles_are_numbers_of_128_bits() {
        // 1, −2, 2⁻¹⁶³⁸², infinity, 0, and one below the normal range, as the formats define them.
        let pairs: [(u128, u128); 6] = [
            (0x3FFF_8000_0000_0000_0000, 0x3FFF << 112),
            (0xC000_8000_0000_0000_0000, 0xC000 << 112),
            (0x0001_8000_0000_0000_0000, 1 << 112),
            (0x7FFF_8000_0000_0000_0000, 0x7FFF << 112),
            (0, 0),
            (1, 1 << 49),
        ];
        for (eighty, all) in pairs {
            assert_eq!(quadruple(eighty), all, "{eighty:#x}");
            assert_eq!(extended(all), eighty, "{all:#x}");
        }
    }

    #[test]
    fn what_is_too_exact_is_rounded() {
        let one = 0x3FFF << 112;
        assert_eq!(extended(one | 1 << 48), extended(one));
        assert_eq!(extended(one | 1 << 48 | 1), extended(one) + 1);
        assert_eq!(extended(one | 3 << 48), extended(one) + 2);
        assert_eq!(extended(one | ((1 << 112) - 1)), 0x4000_8000_0000_0000_0000);
        assert_eq!(extended((1 << 112) - 1), 0x0001_8000_0000_0000_0000);
        assert_eq!(extended(0x7FFF << 112 | 1), 0x7FFF_8000_0000_0000_0001);
    }
}
