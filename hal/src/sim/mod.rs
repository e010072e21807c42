//! simulator (in work)
