//! From files that people have to the signal that the program `fft` reads: complex numbers of 64-bit floating-point parts,
//! lower bytes first.

use crate::{picture, result_files, workspace};
use anyhow::{Context, Result, bail, ensure};
use std::{
    fs,
    io::Cursor,
    path::{Path, PathBuf},
};

/// The program whose inputs are signals.
pub(crate) const PROGRAM: &str = "fft";

/// Bytes of a complex number.
const COMPLEX_BYTES: usize = 16;

/// Converts a file and returns the file with the signal, which is below target/out.
///
/// What a file is says its name: `.pgm` and `.png` are pictures, row by row; `.wav` is sound, the mean of its channels;
/// `.i16` and `.f64` are raw samples and `.cf64` raw complex ones, lower bytes first.
///
/// # Errors
/// When it is none of these, damaged or empty.
pub(crate) fn convert(path: &Path) -> Result<PathBuf> {
    let shown = workspace::display(path);
    let bytes = fs::read(path).with_context(|| format!("cannot read {shown}"))?;
    let kind = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    let signal = signal(&kind, bytes).with_context(|| format!("{shown} is no signal"))?;
    let name = path
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .replace(|letter: char| !letter.is_ascii_alphanumeric(), "-");
    let converted = workspace::results(PROGRAM).join("input").join(format!("{name}.cf64"));
    result_files::put(&converted, &signal)?;
    Ok(converted)
}

fn signal(kind: &str, bytes: Vec<u8>) -> Result<Vec<u8>> {
    let samples: Vec<f64> = match kind {
        "pgm" => picture::samples(&bytes)?.into_iter().map(f64::from).collect(),
        "png" => of_png(&bytes)?,
        "wav" => of_wav(&bytes)?,
        "i16" => pieces(&bytes)?.map(|sample| f64::from(i16::from_le_bytes(sample))).collect(),
        "f64" => pieces(&bytes)?.map(f64::from_le_bytes).collect(),
        "cf64" => {
            pieces::<COMPLEX_BYTES>(&bytes).map(drop)?;
            return Ok(bytes);
        }
        _ => bail!("its name has to end with .pgm, .png, .wav, .i16, .f64 or .cf64"),
    };
    ensure!(!samples.is_empty(), "it has no samples");
    ensure!(samples.iter().all(|sample| sample.is_finite()), "some samples are not finite numbers");
    Ok(samples.into_iter().flat_map(|sample| [sample, 0.0]).flat_map(f64::to_le_bytes).collect())
}

/// Raw samples of `BYTES` bytes each.
fn pieces<const BYTES: usize>(bytes: &[u8]) -> Result<impl Iterator<Item = [u8; BYTES]>> {
    let (pieces, rest) = bytes.as_chunks::<BYTES>();
    ensure!(rest.is_empty() && !pieces.is_empty(), "raw samples have {BYTES} bytes each, and it has {}", bytes.len());
    Ok(pieces.iter().copied())
}

/// The brightness of all pixels, the mean of their colours.
fn of_png(bytes: &[u8]) -> Result<Vec<f64>> {
    let mut decoder = png::Decoder::new(Cursor::new(bytes));
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().context("it is no PNG")?;
    let mut pixels = vec![0; reader.output_buffer_size().context("the picture is too large")?];
    let info = reader.next_frame(&mut pixels).context("the PNG is damaged")?;
    let pixels = &pixels[..info.buffer_size()];
    let values: Vec<f64> = match info.bit_depth {
        png::BitDepth::Sixteen => {
            pixels.chunks_exact(2).map(|pair| f64::from(u16::from_be_bytes([pair[0], pair[1]]))).collect()
        }
        _ => pixels.iter().map(|value| f64::from(*value)).collect(),
    };
    let (channels, colours) = match info.color_type {
        png::ColorType::Rgb => (3, 3),
        png::ColorType::Rgba => (4, 3),
        png::ColorType::GrayscaleAlpha => (2, 1),
        png::ColorType::Grayscale | png::ColorType::Indexed => (1, 1),
    };
    let mean = |pixel: &[f64]| pixel[..colours].iter().sum::<f64>() / colours as f64;
    Ok(values.chunks_exact(channels).map(mean).collect())
}

/// The mean of the channels at each moment.
fn of_wav(bytes: &[u8]) -> Result<Vec<f64>> {
    let reader = hound::WavReader::new(Cursor::new(bytes)).context("it is no WAV")?;
    let spec = reader.spec();
    let values: Vec<f64> = match spec.sample_format {
        hound::SampleFormat::Int => {
            reader.into_samples::<i32>().map(|sample| sample.map(f64::from)).collect::<Result<_, _>>()
        }
        hound::SampleFormat::Float => reader.into_samples::<f32>().map(|sample| sample.map(f64::from)).collect(),
    }
    .context("the WAV is damaged")?;
    let channels = usize::from(spec.channels).max(1);
    Ok(values.chunks_exact(channels).map(|moment| moment.iter().sum::<f64>() / channels as f64).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The real parts of a signal whose imaginary parts are zero.
    fn real(kind: &str, bytes: &[u8]) -> Vec<f64> {
        let signal = signal(kind, bytes.to_vec()).unwrap();
        let parts: Vec<_> = pieces(&signal).unwrap().map(f64::from_le_bytes).collect();
        assert!(parts.chunks_exact(2).all(|pair| pair[1] == 0.0));
        parts.chunks_exact(2).map(|pair| pair[0]).collect()
    }

    fn wav(spec: hound::WavSpec, samples: &[i16]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = hound::WavWriter::new(Cursor::new(&mut bytes), spec).unwrap();
        for sample in samples {
            match spec.sample_format {
                hound::SampleFormat::Int => writer.write_sample(*sample).unwrap(),
                hound::SampleFormat::Float => writer.write_sample(f32::from(*sample)).unwrap(),
            }
        }
        writer.finalize().unwrap();
        bytes
    }

    #[test]
    fn pictures_are_read_row_by_row() {
        assert_eq!(real("pgm", b"P5 2 2 255\n\x01\x02\x03\xff"), [1.0, 2.0, 3.0, 255.0]);
        assert_eq!(real("pgm", b"P5 2 1 9999\n\x01\x02\x00\xff"), [258.0, 255.0]);
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, 2, 1);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Sixteen);
        let mut writer = encoder.write_header().unwrap();
        writer.write_image_data(&[1, 0, 1, 1, 1, 2, 0, 0, 0, 3, 0, 0]).unwrap();
        writer.finish().unwrap();
        assert_eq!(real("png", &bytes), [257.0, 1.0]);
    }

    #[test]
    fn sounds_are_the_mean_of_their_channels() {
        let spec = |channels, sample_format, bits_per_sample| hound::WavSpec {
            channels,
            sample_rate: 8000,
            bits_per_sample,
            sample_format,
        };
        assert_eq!(real("wav", &wav(spec(1, hound::SampleFormat::Int, 16), &[3, -7])), [3.0, -7.0]);
        assert_eq!(real("wav", &wav(spec(2, hound::SampleFormat::Float, 32), &[3, 4, -7, 0])), [3.5, -3.5]);
    }

    #[test]
    fn raw_samples() {
        assert_eq!(real("i16", b"\x01\x00\xff\xff"), [1.0, -1.0]);
        assert_eq!(real("f64", &(-2.5f64).to_le_bytes()), [-2.5]);
        let complex = [1.0f64, -4.0].map(f64::to_le_bytes).concat();
        assert_eq!(signal("cf64", complex.clone()).unwrap(), complex);
    }

    #[test]
    fn what_is_no_signal_is_refused() {
        for (kind, bytes) in [
            ("txt", &b"text"[..]),
            ("pgm", b"P6"),
            ("png", b"P5"),
            ("wav", b"RIFF"),
            ("i16", b"abc"),
            ("f64", b""),
            ("f64", &f64::NAN.to_le_bytes()),
            ("cf64", b"12345678"),
        ] {
            assert!(signal(kind, bytes.to_vec()).is_err(), "{kind}");
        }
    }
}
