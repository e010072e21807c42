//! Messages with tags against what they mean.

mod arrivals;
mod calls;
mod omissions;
mod operations;
mod orders;
mod price;
mod random;
mod requests;
