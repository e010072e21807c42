//! The connection to a debugger: packets are sent as a whole.

use std::{
    collections::VecDeque,
    io::{self, ErrorKind, Read, Write},
    os::unix::net::UnixStream,
};

use gdbstub::conn::{Connection, ConnectionExt};

pub(super) struct Wire {
    stream: UnixStream,
    received: VecDeque<u8>,
    to_send: Vec<u8>,
}

impl Wire {
    pub(super) fn new(stream: UnixStream) -> Self {
        Self { stream, received: VecDeque::new(), to_send: Vec::new() }
    }

    /// Receives what there is, or waits for it.
    fn receive(&mut self, waits: bool) -> io::Result<()> {
        self.stream.set_nonblocking(!waits)?;
        let mut bytes = [0; 4096];
        let received = self.stream.read(&mut bytes);
        self.stream.set_nonblocking(false)?;
        match received {
            Ok(0) => Err(ErrorKind::UnexpectedEof.into()),
            Ok(len) => {
                self.received.extend(&bytes[..len]);
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(()),
            Err(error) => Err(error),
        }
    }
}

impl Connection for Wire {
    type Error = io::Error;

    fn write(&mut self, byte: u8) -> io::Result<()> {
        self.to_send.push(byte);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        let sent = self.stream.write_all(&self.to_send);
        self.to_send.clear();
        sent
    }
}

impl ConnectionExt for Wire {
    fn read(&mut self) -> io::Result<u8> {
        loop {
            match self.received.pop_front() {
                Some(byte) => return Ok(byte),
                None => self.receive(true)?,
            }
        }
    }

    fn peek(&mut self) -> io::Result<Option<u8>> {
        if self.received.is_empty() {
            self.receive(false)?;
        }
        Ok(self.received.front().copied())
    }
}
