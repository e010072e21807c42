//! From the PGM pictures that programs send to PNG pictures that one can look at.

use anyhow::{Context, Result, ensure};

/// A grey picture with 8 bits per pixel.
#[derive(Debug, PartialEq, Eq)]
struct Grey {
    width: u32,
    height: u32,
    pixels: Vec<u8>,
}

/// Turns a binary PGM (P5) into a PNG. Pictures of 16 bits are stretched from their darkest to their brightest value.
///
/// # Errors
///
/// When it is not such a PGM.
pub(crate) fn png_from_pgm(pgm: &[u8]) -> Result<Vec<u8>> {
    let grey = parse(pgm)?;
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, grey.width, grey.height);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().context("cannot start the PNG")?;
    writer.write_image_data(&grey.pixels).context("cannot write the PNG")?;
    writer.finish().context("cannot end the PNG")?;
    Ok(bytes)
}

/// The samples of a binary PGM (P5), row by row.
///
/// # Errors
///
/// When it is not such a PGM.
pub(crate) fn samples(pgm: &[u8]) -> Result<Vec<u16>> {
    Ok(parse_plain(pgm)?.values)
}

fn parse(pgm: &[u8]) -> Result<Grey> {
    let Plain { width, height, most, values } = parse_plain(pgm)?;
    let pixels = if most > 255 {
        stretch(&values)
    } else {
        values.into_iter().map(|value| u8::try_from(u32::from(value) * 255 / most).unwrap_or(255)).collect()
    };
    Ok(Grey { width, height, pixels })
}

/// A picture as the file has it.
struct Plain {
    width: u32,
    height: u32,
    most: u32,
    values: Vec<u16>,
}

fn parse_plain(pgm: &[u8]) -> Result<Plain> {
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
    Ok(Plain { width, height, most, values })
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

fn stretch(values: &[u16]) -> Vec<u8> {
    let low = u32::from(values.iter().copied().min().unwrap_or(0));
    let range = (u32::from(values.iter().copied().max().unwrap_or(0)) - low).max(1);
    values.iter().map(|&value| u8::try_from((u32::from(value) - low) * 255 / range).unwrap_or(255)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_bits_are_stretched() {
        let grey = parse(b"P5\n# a comment\n2 2 # another\n65535\n\x01\x00\x02\x00\x03\x00\x01\x80").unwrap();
        assert_eq!(grey, Grey { width: 2, height: 2, pixels: vec![0, 127, 255, 63] });
    }

    #[test]
    fn eight_bits_are_scaled() {
        assert_eq!(parse(b"P5 3 1 255\n\x00\x80\xff").unwrap().pixels, [0, 128, 255]);
        assert_eq!(parse(b"P5 2 1 1 \x00\x01").unwrap().pixels, [0, 255]);
    }

    #[test]
    fn flat_pictures_do_not_divide_by_zero() {
        assert_eq!(parse(b"P5 1 2 65535\n\x10\x00\x10\x00").unwrap().pixels, [0, 0]);
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

    #[test]
    fn the_png_holds_the_same_pixels() {
        let png = png_from_pgm(b"P5 3 1 255\n\x00\x80\xff").unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        assert_eq!((info.width, info.height, &pixels[..]), (3, 1, &[0, 128, 255][..]));
    }
}
