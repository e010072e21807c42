//! Several machines as one: [nodes], what they tell each other ([`notices`]), and how they notice that one is gone
//! ([`heartbeat`]).

pub(crate) mod heartbeat;
pub(crate) mod nodes;
pub(crate) mod notices;
