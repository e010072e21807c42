//! Programs name no memory by numbers: not by an address, not by words, and not by taking the right to.

use hal::{Region, Regions, SharedAddress, kind};

fn program() -> [Region<kind::Cached>; 3] {
    let start = SharedAddress::new(0, 64);
    [Region::new(start, 64), Region::from_words([0, 64, 64]), Regions::new(4).region(start, 64)]
}

fn main() {}
