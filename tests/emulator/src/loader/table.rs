//! `lut_init.dat`: one register for each line, as tile, side, offset and value (`WriteFlitsFromFile` of sccKit).

use crate::Chip;

/// Writes the registers. Returns how many.
pub(super) fn load(chip: &mut Chip, text: &str) -> Result<usize, String> {
    let mut written = 0;
    for (number, line) in (1..).zip(text.lines()) {
        let columns: Vec<&str> = line.split_whitespace().collect();
        let &[tile, side, offset, value] = columns.as_slice() else {
            return Err(format!("line {number} has {} columns instead of 4", columns.len()));
        };
        let parsed = |token: &str| {
            let digits = token.strip_prefix("0x").unwrap_or(token);
            u64::from_str_radix(digits, 16).map_err(|_| format!("line {number}: \"{token}\" is no hexadecimal number"))
        };
        let (tile, side, offset, value) = (parsed(tile)?, parsed(side)?, parsed(offset)?, parsed(value)?);
        let narrow = |value: u64| u32::try_from(value).map_err(|_| format!("line {number}: {value:#x} is too large"));
        let (tile, side, offset) = (narrow(tile)?, narrow(side)?, narrow(offset)?);
        let stored = chip.host_write(tile & 0xF, tile >> 4, side, offset, value);
        stored.map_err(|reason| format!("line {number}: {reason}"))?;
        written += 1;
    }
    Ok(written)
}
