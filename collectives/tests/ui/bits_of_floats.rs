//! Floats have no bits to combine.

use collectives::Operator;

fn main() {
    let _ = Operator::<f32>::XOR;
}
