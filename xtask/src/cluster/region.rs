//! The memory that the nodes of a cluster share: a file that has no name and is gone with this process, whatever ends it.

use crate::qemu::Node;
use anyhow::{Context, Result};
use std::{
    fs::File,
    io::Error,
    os::fd::{AsRawFd, FromRawFd},
    path::{Path, PathBuf},
};

/// The shared memory, all zero when it is made. Nodes have it until the last of them is gone.
pub(super) struct Region {
    path: PathBuf,
    _file: File,
}

impl Region {
    /// Makes it.
    pub(super) fn new() -> Result<Self> {
        // SAFETY: the name is a string with its end; the descriptor that comes back is nobody else's.
        let file = unsafe {
            match libc::memfd_create(c"atoll-cluster".as_ptr(), libc::MFD_CLOEXEC) {
                -1 => Err(Error::last_os_error()),
                descriptor => Ok(File::from_raw_fd(descriptor)),
            }
        };
        let file = file.context("cannot make memory for the nodes to share")?;
        file.set_len(Node::SHARED_MIB << 20).context("cannot make memory for the nodes to share")?;
        // QEMU opens it under this name, as long as this process has it open.
        let path = format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd()).into();
        Ok(Self { path, _file: file })
    }

    /// Where nodes find it.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, io::Write};

    #[test]
    fn whoever_opens_it_shares_it() {
        let region = Region::new().unwrap();
        assert_eq!(fs::metadata(region.path()).unwrap().len(), Node::SHARED_MIB << 20);
        fs::OpenOptions::new().write(true).open(region.path()).unwrap().write_all(b"seen").unwrap();
        assert!(fs::read(region.path()).unwrap().starts_with(b"seen\0"));
        let path = region.path().to_path_buf();
        drop(region);
        assert!(!path.exists());
    }
}
