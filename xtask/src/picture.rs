//! From the PGM pictures that programs send to PNG pictures that one can look at.

use crate::relief::{self, Heights};
use anyhow::{Context, Result, ensure};
use png::ColorType;

/// Turns a binary PGM (P5) into a PNG. One of 16 bits is a map of heights, which is drawn as a shaded relief; beside it
/// stands what the map was `before`, if that is a PGM of the same size.
pub(crate) fn png_from_pgm(pgm: &[u8], before: Option<&[u8]>) -> Result<Vec<u8>> {
    let picture = parse(pgm)?;
    if picture.most <= 255 {
        let most = picture.most;
        let grey = picture.values.iter().map(|value| u8::try_from(u32::from(*value) * 255 / most).unwrap_or(255));
        return encode(picture.width, picture.height, ColorType::Grayscale, &grey.collect::<Vec<_>>());
    }
    let size = (picture.width, picture.height);
    let before = before.and_then(|before| parse(before).ok()).filter(|before| (before.width, before.height) == size);
    let relief = match &before {
        Some(before) => relief::draw(&[("before", before.heights()), ("after", picture.heights())]),
        None => relief::draw(&[("after", picture.heights())]),
    };
    encode(u32::try_from(relief.width)?, u32::try_from(relief.height)?, ColorType::Rgb, &relief.pixels)
}

fn encode(width: u32, height: u32, colour: ColorType, pixels: &[u8]) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(colour);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Fast);
    let mut writer = encoder.write_header().context("cannot start the PNG")?;
    writer.write_image_data(pixels).context("cannot write the PNG")?;
    writer.finish().context("cannot end the PNG")?;
    Ok(bytes)
}

/// The samples of a binary PGM (P5), row by row.
pub(crate) fn samples(pgm: &[u8]) -> Result<Vec<u16>> {
    Ok(parse(pgm)?.values)
}

/// A picture as the file has it.
struct Picture {
    width: u32,
    height: u32,
    most: u32,
    values: Vec<u16>,
}

impl Picture {
    fn heights(&self) -> Heights<'_> {
        Heights { width: self.width as usize, values: &self.values }
    }
}

fn parse(pgm: &[u8]) -> Result<Picture> {
    let mut rest = pgm.strip_prefix(b"P5").context("not a binary PGM")?;
    let mut header = || -> Result<u32> {
        let (value, after) = number(rest).context("the PGM's header is damaged")?;
        rest = after;
        Ok(value)
    };
    let (width, height, most) = (header()?, header()?, header()?);
    ensure!(width > 0 && height > 0 && (1..=65_535).contains(&most), "the PGM's size or range is impossible");
    // One white space ends the header.
    let content = rest.get(1..).unwrap_or_default();
    let pixels = u64::from(width) * u64::from(height);
    let expected = pixels.saturating_mul(if most > 255 { 2 } else { 1 });
    ensure!(content.len() as u64 == expected, "the PGM has {} bytes instead of {expected}", content.len());
    let values = if most > 255 {
        content.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]])).collect()
    } else {
        content.iter().map(|value| u16::from(*value)).collect()
    };
    Ok(Picture { width, height, most, values })
}

/// The next decimal number after white space and comments, and what follows it.
fn number(mut bytes: &[u8]) -> Option<(u32, &[u8])> {
    loop {
        match bytes {
            [b'#', ..] => bytes = &bytes[bytes.iter().position(|&byte| byte == b'\n')?..],
            [space, rest @ ..] if space.is_ascii_whitespace() => bytes = rest,
            _ => break,
        }
    }
    let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let value = std::str::from_utf8(&bytes[..digits]).ok()?.parse().ok()?;
    Some((value, &bytes[digits..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Width, height and pixels.
    fn decoded(png: &[u8]) -> (usize, usize, Vec<u8>) {
        let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        (info.width as usize, info.height as usize, pixels)
    }

    #[test]
    fn eight_bits_are_scaled() {
        let pixels = |pgm: &[u8]| decoded(&png_from_pgm(pgm, None).unwrap()).2;
        assert_eq!(pixels(b"P5 3 1 255\n\x00\x80\xff"), [0, 128, 255]);
        assert_eq!(pixels(b"P5 2 1 1 \x00\x01"), [0, 255]);
    }

    #[test]
    fn sixteen_bits_become_a_relief_beside_what_was_before() {
        let map = |highest: u8| {
            [&b"P5\n# a comment\n2 2 # another\n65535\n\x01\x00\x02\x00\x03\x00\x01"[..], &[highest]].concat()
        };
        let size = |before: Option<&[u8]>| {
            let (width, height, pixels) = decoded(&png_from_pgm(&map(9), before).unwrap());
            assert_eq!(pixels.len(), width * height * 3);
            (width, height)
        };
        let (alone, beside) = (size(None), size(Some(&map(7))));
        assert!(beside.0 > alone.0 && beside.1 == alone.1, "{beside:?}");
        // What is no map of this size cannot stand beside it.
        for other in [&b"P5 1 2 65535\n\0\0\0\0"[..], b"no map"] {
            assert_eq!(size(Some(other)), alone);
        }
    }

    #[test]
    fn flat_maps_do_not_divide_by_zero() {
        assert!(png_from_pgm(b"P5 1 2 65535\n\x10\x00\x10\x00", None).is_ok());
    }

    #[test]
    fn damaged_pictures_are_refused() {
        for pgm in [
            &b""[..],
            b"P6 1 1 255\n\0",
            b"P5 1 1 255",
            b"P5 1 1 255\n",
            b"P5 0 1 255\n",
            b"P5 1 1 0\n\0",
            b"P5 2 2 255\n\0\0\0",
            b"P5 # x",
        ] {
            assert!(parse(pgm).is_err(), "{pgm:?}");
        }
        assert!(parse(b"P5 4294967295 4294967295 65535\n").is_err());
    }
}
