//! MPI: what its C side asks for.
//!
//! Functions of programs are in C, beside this (`kernel/c/mpi`), one line each: they call through the [table]. Here is what they
//! do. All messages, and those of operations of all, go over messages with tags of the communicator of all ranks
//! (`collectives::matched`), whose tags say which communicator of the program they belong to ([contexts]); so communicators of the
//! program take no lines of the MPBs. The [engine] has what is under way: [messages], and [collective] operations, which are
//! written down once, as tasks, whether the program waits for them, or goes on meanwhile, or starts them again and again.

mod attributes;
mod buffered;
mod calls;
mod class;
mod collective;
mod communicators;
mod constants;
mod contexts;
mod datatypes;
mod declarations;
mod declared;
mod engine;
mod environment;
mod errors;
mod groups;
mod handles;
mod infos;
mod intercommunicators;
mod listing;
mod matched_probes;
mod messages;
mod operators;
mod partitioned;
mod place;
mod requests;
mod sessions;
mod state;
mod status;
mod table;
mod topologies;
mod windows;

pub(crate) use self::{state::Mpi, table::Table};
