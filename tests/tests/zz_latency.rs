mod common;
use collectives::{Exchange, Pieces};
use common::run;
use hal::{Clock, sim::Machine};
use std::cell::RefCell;
#[test]
fn latencies() {
    let cores = 48;
    for len in [8usize, 28, 64, 256, 1024, 4096, 16384, 65536] {
        for op in ["gather", "scatter", "allgather", "alltoall", "gatherv", "scatterv", "alltoallv"] {
            let mut row = format!("{op:10} {len:6}");
            for way in [Exchange::Default, Exchange::Long, Exchange::TwoSided] {
                if len > 20000 && op.starts_with("all") && false {
                    continue;
                }
                let ends = RefCell::new((0u64, 0u64));
                run(&Machine::scc(cores), |context| {
                    let comm = context.comm;
                    let block = vec![1u8; len];
                    let mut all = vec![0u8; len * cores];
                    let send = vec![3u8; len * cores];
                    let mut mine = vec![0u8; len];
                    let counts = vec![len; cores];
                    let p = Pieces::packed(&counts);
                    comm.barrier();
                    comm.barrier();
                    let begin = context.hal().now();
                    match op {
                        "gather" => way.gather(comm, &block, &mut all, 0)?,
                        "scatter" => way.scatter(comm, &send, &mut mine, 0)?,
                        "allgather" => way.allgather(comm, &block, &mut all)?,
                        "gatherv" => way.gatherv(comm, &block, &mut all, &p, 0)?,
                        "scatterv" => way.scatterv(comm, &send, &p, &mut mine, 0)?,
                        "alltoallv" => way.alltoallv(comm, (&send, &p), (&mut all, &p))?,
                        _ => way.alltoall(comm, &send, &mut all)?,
                    }
                    let end = context.hal().now();
                    let mut e = ends.borrow_mut();
                    e.0 = e.0.max(begin);
                    e.1 = e.1.max(end);
                    Ok(())
                })
                .unwrap();
                let (b, e) = *ends.borrow();
                row += &format!(" {:10.1}", (e - b) as f64 / 1000.0);
            }
            println!("{row}");
        }
    }
}
