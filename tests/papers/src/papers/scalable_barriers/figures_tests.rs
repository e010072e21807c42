use super::*;
use crate::{
    bench::Samples,
    figures::figure::{Origin, Plot},
};

/// A row of one sample, on `nodes` nodes of `cores` cores.
fn samples(name: &str, nodes: u64, cores: u64, metric: &str, value: u64) -> Samples {
    let (algorithm, family) = name.split_once('@').unwrap();
    let unit = if metric == "reads" || metric == "writes" { "count" } else { "ns" };
    let ranks = nodes * cores;
    let line = format!("algorithm={algorithm} ranks={ranks} param={nodes} bytes=0 metric={metric} unit={unit} {value}");
    let mut samples = Samples::parse(&line).unwrap();
    samples.key.variant = format!("@{family}");
    samples
}

fn plots(content: Content) -> Vec<Plot> {
    match content {
        Content::Plots(plots) => plots,
        Content::Table(_) => panic!("it is a table"),
    }
}

/// Barriers of one and two nodes, of as many nanoseconds as there are threads, and more nodes.
fn small() -> Rows {
    let mut all = Vec::new();
    for name in [ENGINE, ENGINE_ASIC, COHERENT, FLAT] {
        for (nodes, cores) in [(1, 2), (1, 16), (2, 1), (2, 8), (2, 16)] {
            for metric in ["latency", "reads", "writes"] {
                all.push(samples(name, nodes, cores, metric, 1000 * nodes * cores));
            }
        }
    }
    Rows::pool(all)
}

/// Bench `barrier`: times of Eq. 2, and what is computed of them.
fn large() -> Rows {
    let mut all = Vec::new();
    for name in [TREE, FLAT] {
        for cores in SIZES {
            for nodes in [1, 2, 8, 16, 32, 64] {
                all.push(samples(name, nodes, cores, "latency", 100 * nodes + cores));
            }
        }
        // Larger than the paper's.
        all.push(samples(name, 4096, 1, "latency", 99_000));
    }
    for name in ["fit@cluster-fpga", "fit-eq2@cluster-fpga"] {
        for (metric, coefficient) in
            [("per-ln-node-and-core", 22), ("per-ln-node", 2493), ("per-core", 56), ("offset", 377)]
        {
            all.push(samples(name, 0, 0, metric, coefficient));
        }
    }
    for cores in SIZES {
        for (metric, value) in [("per-ln-node", 2500), ("offset", 400), ("r2-logarithmic", 990)] {
            all.push(samples("fit@cluster-fpga", cores, 0, metric, value));
        }
    }
    for (nodes, cores, printed) in [(13_750, 16, 28), (3437, 64, 35), (859, 256, 69), (262_144, 768, 282)] {
        all.push(samples("lookout@cluster-fpga", nodes, cores, "printed", 1000 * printed));
    }
    Rows::pool(all)
}

#[test]
fn threads_of_one_node_and_of_two_are_told_apart() {
    let plots = plots(unoptimised(&small()).unwrap());
    let points: Vec<_> = plots[0].series.iter().map(|series| series.points.clone()).collect();
    assert_eq!(
        points[..3],
        [vec![(2.0, 2.0), (16.0, 16.0)], vec![(2.0, 2.0), (16.0, 16.0)], vec![(2.0, 2.0), (16.0, 16.0)]]
    );
    assert!(plots[0].series[3..].iter().all(|series| series.origin == Origin::Published));
}

#[test]
fn writes_are_flags_and_a_phase() {
    let plots = plots(operations(&small()).unwrap());
    let [.., counted, formula] = &plots[1].series[..] else { panic!("no counts") };
    assert_eq!(
        (&*counted.points, &*formula.points),
        (&[(2.0, 2000.0), (16.0, 16_000.0)][..], &[(2.0, 3.0), (16.0, 17.0)][..])
    );
}

#[test]
fn two_nodes_have_32_threads() {
    let plots = plots(coherent(&small()).unwrap());
    let ends = plots[0].series.iter().filter_map(|series| series.points.last());
    assert!(ends.eq([(32.0, 32.0); 3].iter()));
}

#[test]
fn figure_8_ends_with_the_papers_cluster() {
    let plots = plots(optimised(&large()).unwrap());
    for plot in &plots {
        for (series, cores) in plot.series.iter().zip(SIZES) {
            assert_eq!(series.points.first(), Some(&(1.0, (100 + cores) as f64 / 1000.0)));
            assert_eq!(series.points.last(), Some(&(64.0, (6400 + cores) as f64 / 1000.0)));
        }
    }
    let published = plots[1].series.iter().filter(|series| series.origin == Origin::Published);
    assert_eq!(published.count(), 5);
}

#[test]
fn trends_begin_where_something_crosses_the_network() {
    let plots = plots(trends(&large()).unwrap());
    let [fitted, papers] = &plots[..] else { panic!("{} plots", plots.len()) };
    assert_eq!(
        (fitted.series[0].points.first(), fitted.series[0].points.last()),
        (Some(&(2.0, 0.201)), Some(&(4096.0, 99.0)))
    );
    assert_eq!(fitted.series[0].name, "1 core, R² 0.990");
    let at_end = |plot: &Plot, place: usize| plot.series[place].points.last().copied().unwrap();
    let is_near = |(x, y): (f64, f64), (nodes, time): (f64, f64)| (x - nodes).abs() < 1e-6 && (y - time).abs() < 1e-6;
    assert!(is_near(at_end(fitted, 1), (4096.0, 2.5 * 4096.0_f64.ln() + 0.4)));
    assert!(is_near(at_end(papers, 7), (64.0, (0.022 * 16.0 + 2.493) * 64.0_f64.ln() + 0.056 * 16.0 + 0.377)));
}

#[test]
fn figure_10_has_threads_of_a_node() {
    let plots = plots(node_sizes(&large()).unwrap());
    assert_eq!(plots[0].series.len(), 10);
    let [ours, equation] = [0, 1].map(|place| &plots[0].series[place].points);
    assert_eq!(ours.iter().map(|(cores, _)| *cores).collect::<Vec<_>>(), [1.0, 4.0, 8.0, 16.0]);
    assert!((equation[3].1 - ((0.022 * 16.0 + 2.493) * 2.0_f64.ln() + 0.056 * 16.0 + 0.377)).abs() < 1e-9);
}

#[test]
fn what_the_paper_prints_is_on_its_curve() {
    let plots = plots(lookout(&large()).unwrap());
    for plot in &plots {
        let marks = plot.series.iter().filter(|series| series.origin == Origin::Published);
        let marks: Vec<_> = marks.flat_map(|series| series.points.clone()).collect();
        assert_eq!(marks, [(13_750.0, 28.0), (3437.0, 35.0), (859.0, 69.0), (262_144.0, 282.0)]);
    }
}

#[test]
fn transforms_are_compared_with_as_many_times_the_speed() {
    let mut all = Vec::new();
    for of_node in [1, 2, 4, 8] {
        for (nodes, time) in [(1, 8000), (2, 5000), (8, 2000)] {
            all.push(samples("uncached-random@cluster-fpga", nodes, of_node, "total", time));
        }
    }
    let plots = plots(transform(&Rows::pool(all), "uncached-random").unwrap());
    let [ours, ideal] = [0, 1].map(|place| &*plots[0].series[place].points);
    assert_eq!(ours, [(1.0, 8.0), (2.0, 5.0), (8.0, 2.0)]);
    assert_eq!(ideal, [(2.0, 5.0), (8.0, 1.25)]);
}
