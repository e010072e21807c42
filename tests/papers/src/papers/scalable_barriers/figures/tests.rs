use super::*;
use crate::{
    bench::{Samples, testing::sample},
    figures::figure::{Origin, Plot},
};

/// A row of one sample, on `nodes` nodes of `cores` cores.
fn samples(name: &str, nodes: u64, cores: u64, metric: &str, value: u64) -> Samples {
    let unit = if metric == "reads" || metric == "writes" { "count" } else { "ns" };
    sample(name, [nodes * cores, nodes, 0], &format!("{metric} {unit}"), value)
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

/// Bench `barrier`: times of more nodes, and what the paper prints.
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
    for (nodes, cores, printed) in [(13_750, 16, 28), (3437, 64, 35), (859, 256, 69), (262_144, 768, 282)] {
        all.push(samples("lookout@cluster-fpga", nodes, cores, "printed", 1000 * printed));
    }
    Rows::pool(all)
}

#[test]
fn threads_of_one_node_and_of_two_are_told_apart() {
    let plots = unoptimised(&small()).unwrap().plots();
    let points: Vec<_> = plots[0].series.iter().map(|series| series.points.clone()).collect();
    assert_eq!(
        points[..3],
        [vec![(2.0, 2.0), (16.0, 16.0)], vec![(2.0, 2.0), (16.0, 16.0)], vec![(2.0, 2.0), (16.0, 16.0)]]
    );
    assert!(plots[0].series[3..].iter().all(|series| series.origin == Origin::Published));
}

#[test]
fn writes_are_flags_and_a_phase() {
    let plots = operations(&small()).unwrap().plots();
    let [.., counted, formula] = &plots[1].series[..] else { panic!("no counts") };
    assert_eq!(
        (&*counted.points, &*formula.points),
        (&[(2.0, 2000.0), (16.0, 16_000.0)][..], &[(2.0, 3.0), (16.0, 17.0)][..])
    );
}

#[test]
fn two_nodes_have_32_threads() {
    let plots = coherent(&small()).unwrap().plots();
    let ends = plots[0].series.iter().filter_map(|series| series.points.last());
    assert!(ends.eq([(32.0, 32.0); 3].iter()));
}

#[test]
fn figure_8_ends_with_the_papers_cluster() {
    let plots = optimised(&large()).unwrap().plots();
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
    let plots = trends(&large()).unwrap().plots();
    let [fitted, papers] = &plots[..] else { panic!("{} plots", plots.len()) };
    assert_eq!(
        (fitted.series[0].points.first(), fitted.series[0].points.last()),
        (Some(&(2.0, 0.201)), Some(&(4096.0, 99.0)))
    );
    assert!(fitted.series[0].name.starts_with("1 core, R² 0."), "{}", fitted.series[0].name);
    let at_end = |plot: &Plot, place: usize| plot.series[place].points.last().copied().unwrap();
    let is_near = |(x, y): (f64, f64), (nodes, time): (f64, f64)| (x - nodes).abs() < 1e-6 && (y - time).abs() < 1e-6;
    let fit = Fit::logarithmic(fitted.series[0].points.iter().copied()).unwrap();
    assert!(is_near(at_end(fitted, 1), (4096.0, fit.at(4096.0_f64.ln()))));
    assert!(is_near(at_end(papers, 7), (64.0, Scaling::PAPER.latency(64.0, 16.0))));
}

#[test]
fn figure_10_has_threads_of_a_node() {
    let plots = node_sizes(&large()).unwrap().plots();
    assert_eq!(plots[0].series.len(), 10);
    let [ours, equation] = [0, 1].map(|place| &plots[0].series[place].points);
    assert_eq!(ours.iter().map(|(cores, _)| *cores).collect::<Vec<_>>(), [1.0, 4.0, 8.0, 16.0]);
    assert_eq!(equation[3].1, Scaling::PAPER.latency(2.0, 16.0));
}

#[test]
fn what_the_paper_prints_is_on_its_curve() {
    let plots = lookout(&large()).unwrap().plots();
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
    let plots = transform(&Rows::pool(all), "uncached-random").unwrap().plots();
    let [ours, ideal] = [0, 1].map(|place| &*plots[0].series[place].points);
    assert_eq!(ours, [(1.0, 8.0), (2.0, 5.0), (8.0, 2.0)]);
    assert_eq!(ideal, [(2.0, 5.0), (8.0, 1.25)]);
}
