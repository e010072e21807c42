//! Messages with tags against what they mean.

mod arrivals;
mod calls;
mod orders;
mod price;
mod random;
mod requests;
