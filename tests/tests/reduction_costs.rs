//! What reductions cost in virtual time.

mod common;

use std::cell::RefCell;

use collectives::{Operator, Reduction, Scan};
use common::run;
use hal::{
    Clock,
    sim::{Machine, SimCore},
};
use tests::{Context, Failed};

fn machine(cores: usize) -> Machine {
    let name = std::env::var("MACHINE").unwrap_or("scc".into());
    Machine::new(hal::sim::Description::parse(&name).unwrap().with_cores(cores))
}

fn latency(cores: usize, repeat: usize, call: impl Fn(&mut Context<'_, '_, SimCore>) -> Result<(), Failed>) -> f64 {
    let times = RefCell::new(vec![(u64::MAX, 0); repeat]);
    run(&machine(cores), |context| {
        for turn in 0..repeat {
            context.comm.barrier();
            let begin = context.hal().now();
            call(context)?;
            let end = context.hal().now();
            let mut times = times.borrow_mut();
            // from the last entry
            let (first, last) = times[turn];
            let first = if first == u64::MAX { begin } else { first.max(begin) };
            times[turn] = (first, last.max(end));
        }
        Ok(())
    })
    .unwrap();
    let times = times.into_inner();
    let mut spans: Vec<_> = times[1..].iter().map(|(a, b)| b - a).collect();
    spans.sort();
    spans[spans.len() / 2] as f64 / 1000.0
}

#[test]
fn table() {
    let cores: usize = std::env::var("CORES").ok().and_then(|c| c.parse().ok()).unwrap_or(48);
    let max: usize = std::env::var("MAX").ok().and_then(|c| c.parse().ok()).unwrap_or(1 << 16);
    println!(
        "barrier {:.2}",
        latency(cores, 4, |context| {
            context.comm.barrier();
            Ok(())
        })
    );
    let op = Operator::<f64>::SUM;
    let mut bytes = 8;
    while bytes <= max {
        let n = bytes / 8;
        let mut row = format!("{bytes:8}");
        for (name, which) in
            [("T", Reduction::Tree), ("B", Reduction::Blocks), ("2", Reduction::TwoSided), ("def", Reduction::Default)]
        {
            if which == Reduction::Tree && bytes > 16384 {
                continue;
            }
            let reduce = latency(cores, 3, |context| {
                let (a, mut b) = (vec![1.0; n], vec![0.0; n]);
                Ok(which.reduce(context.comm, &a, &mut b, &op, 0)?)
            });
            let allreduce = latency(cores, 3, |context| {
                let (a, mut b) = (vec![1.0; n], vec![0.0; n]);
                Ok(which.allreduce(context.comm, &a, &mut b, &op)?)
            });
            let scatter = latency(cores, 3, |context| {
                let size = context.size();
                let (mut a, counts) =
                    (vec![1.0; n], (0..size).map(|r| n * (r + 1) / size - n * r / size).collect::<Vec<_>>());
                Ok(which.reduce_scatter_in_place(context.comm, &mut a, &counts, &op)?)
            });
            row += &format!(" | {name} r {reduce:9.2} a {allreduce:9.2} rs {scatter:9.2}");
        }
        for (name, which) in [("D", Scan::Doubling), ("C", Scan::Chain), ("2", Scan::TwoSided), ("def", Scan::Default)]
        {
            if which == Scan::Doubling && bytes > 16384 {
                continue;
            }
            let scan = latency(cores, 3, |context| {
                let (a, mut b) = (vec![1.0; n], vec![0.0; n]);
                Ok(which.scan(context.comm, &a, &mut b, &op)?)
            });
            row += &format!(" | {name} {scan:9.2}");
        }
        println!("{row}");
        bytes *= 2;
    }
}
