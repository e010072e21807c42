//! Words of a program in the kernel's command line, which has room for neither spaces nor special letters.

use alloc::{ffi::CString, string::String, vec::Vec};
use core::ffi::c_char;

/// A word that has come through the command line: there `%` and two hexadecimal digits are a byte.
pub(crate) fn decoded(word: &str) -> CString {
    let mut bytes = Vec::with_capacity(word.len());
    let mut rest = word.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = (*first == b'%').then(|| after.get(..2)).flatten();
        let code = code.and_then(|code| u8::from_str_radix(core::str::from_utf8(code).ok()?, 16).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    bytes.retain(|byte| *byte != 0);
    CString::new(bytes).unwrap_or_default()
}

/// A word as text.
pub(crate) fn text(word: &CString) -> String {
    word.to_string_lossy().into_owned()
}

/// Strings as C has them: pointers, and a null pointer behind the last.
pub(crate) fn pointers(words: &[CString]) -> Vec<*mut c_char> {
    words.iter().map(|word| word.as_ptr().cast_mut()).chain([core::ptr::null_mut()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_decoded() {
        let words = ["10", "a%20b", "", "%2", "%25x", "%00"].map(|word| text(&decoded(word)));
        assert_eq!(words, ["10", "a b", "", "%2", "%x", ""]);
        assert_eq!(pointers(&[]), [core::ptr::null_mut()]);
    }
}
