use super::*;
use crate::{
    bench::{Samples, testing},
    figures::figure::{Origin, Table},
};

/// A row of one sample.
fn samples(algorithm: &str, param: u64, bytes: u64, metric: &str, value: u64) -> Samples {
    testing::sample(algorithm, [48, param, bytes], metric, value)
}

/// The same for each of what is compared.
fn of_all(param: u64, bytes: u64, metric: &'static str, value: u64) -> impl Iterator<Item = Samples> {
    COMPARED.into_iter().map(move |name| samples(name, param, bytes, metric, value))
}

#[test]
fn latencies_are_split_by_size_and_taken_at_one_distance() {
    let at = |routers: u64| {
        [1, 512, 1 << 10, 16 << 10, 32 << 10, 1 << 20]
            .into_iter()
            .flat_map(move |bytes| of_all(routers, bytes, "get.latency ns", routers * 1000 + bytes))
    };
    let rows = Rows::pool(at(TILE).chain(at(ROW)).chain(at(CORNER)));
    let plots = latencies(&rows, "get", ROW).unwrap().plots();
    assert_eq!(plots.len(), 3);
    for (plot, sizes) in plots.iter().zip([[1, 512], [1 << 10, 16 << 10], [32 << 10, 1 << 20]]) {
        assert_eq!(plot.series.len(), COMPARED.len());
        let expected = sizes.map(|bytes| (bytes as f64, (ROW * 1000 + bytes) as f64 / 1000.0));
        assert!(plot.series.iter().all(|series| series.points == expected), "{}", plot.title);
    }
    assert_eq!(latencies(&rows, "put", ROW).err(), Some(Missing));
}

#[test]
fn bandwidths_have_the_limit_of_lines() {
    let of =
        |metric: &'static str| [1, 1 << 20].into_iter().flat_map(move |bytes| of_all(CORNER, bytes, metric, 40_000));
    let limits =
        ["get.throughput kBps", "put.throughput kBps"].map(|metric| samples("lines", CORNER, 1 << 20, metric, 43_000));
    let rows = Rows::pool(of("get.throughput kBps").chain(of("put.throughput kBps")).chain(limits));
    let plots = bandwidths(&rows, CORNER).unwrap().plots();
    for plot in &plots {
        let limit = plot.series.iter().find(|series| series.origin == Origin::Model).unwrap();
        assert_eq!(limit.points, [(1.0, 43.0), ((1 << 20) as f64, 43.0)]);
        assert!(plot.series.len() == COMPARED.len() + 1);
    }
}

#[test]
fn empty_epochs_are_no_puts() {
    let empty = [1, 2].into_iter().flat_map(|k| of_all(k, 0, "target ns", k * 3000));
    let puts = [1, 2].into_iter().flat_map(|k| of_all(k, 65536, "put.throughput kBps", k * 1000));
    let mut all: Vec<_> = empty.chain(puts).collect();
    for samples in all.iter_mut().filter(|samples| samples.key.algorithm == "message") {
        samples.values.iter_mut().for_each(|value| *value *= 10);
    }
    let rows = Rows::pool(all);
    let plot = synchronisation(&rows).unwrap();
    assert_eq!(plot.series[0].points, [(1.0, 3.0), (2.0, 6.0)]);
    // Of the windows over messages, which are the paper's Original.
    assert_eq!(plot.series.last().map(|half| half.points.clone()), Some(vec![(1.0, 15.0), (2.0, 30.0)]));
    assert_eq!(crowd(&rows, "default", 65536), Ok(vec![(1.0, 1.0), (2.0, 2.0)]));
    assert_eq!(crowd(&rows, "default", 524_288), Err(Missing));
}

#[test]
fn no_lines_are_no_points() {
    const METRICS: [&str; 6] = [
        "mpb_lines_read count",
        "mpb_lines_written count",
        "combined_lines_read count",
        "combined_lines_written count",
        "lines_fetched count",
        "lines_written_back count",
    ];
    let of = |name: &'static str, count: u64| METRICS.map(move |metric| samples(name, 7, 32, metric, count));
    let mut all: Vec<_> = COMPARED.into_iter().flat_map(|name| of(name, 5)).collect();
    for samples in &mut all {
        if samples.key.algorithm == "two-sided" && !samples.key.metric.starts_with("mpb") {
            samples.values = vec![0];
        }
    }
    let plots = lines(&Rows::pool(all)).unwrap().plots();
    let names = |plot: &Plot| plot.series.iter().map(|series| series.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&plots[0]), COMPARED[..4]);
    assert_eq!(names(&plots[1]), COMPARED);
    assert_eq!((&*plots[0].series[0].points, &*plots[1].series[4].points), (&[(32.0, 10.0)][..], &[(32.0, 10.0)][..]));
    assert_eq!(plots[2].series[0].points, [(32.0, 30.0 / 112.0)]);
}

#[test]
fn overlaps_vary_one_thing_at_a_time() {
    let names = || COMPARED.into_iter().chain([ENGINE]);
    let of = |metric: &'static str, param, bytes: u64| {
        names().map(move |name| samples(name, param, bytes, metric, 10 * param))
    };
    let origin = [(120, 1024), (50, 1 << 20), (120, 1 << 20)];
    let origin = origin.into_iter().flat_map(|(param, bytes)| of("origin.overlap permille", param, bytes));
    let rows = Rows::pool(origin.chain(of("target.overlap permille", 120, 1024)));
    let plots = overlaps(&rows).unwrap().plots();
    let large = (1 << 20) as f64;
    let points = plots.iter().map(|plot| plot.series[0].points.clone()).collect::<Vec<_>>();
    assert_eq!(points, [vec![(1024.0, 1.2), (large, 1.2)], vec![(0.5, 0.5), (1.2, 1.2)], vec![(1024.0, 1.2)]]);
    assert_eq!(plots[0].series.last().map(|series| series.origin), Some(Origin::Published));
}

#[test]
fn cubes_have_sides() {
    let versions = ["default", "truly-one-sided", "message", "two-sided"];
    let of = |metric: &'static str, param: u64, bytes: u64| {
        versions.map(move |name| samples(name, param, bytes, metric, 1000 * (param + bytes)))
    };
    let weak = of("weak.step ns", 2, 9).into_iter().chain(of("weak.step ns", 48, 9));
    let strong = |sizes| (0..sizes).flat_map(move |size| of("step ns", 32, 100 + size));
    let plots = application(&Rows::pool(strong(5).chain(weak.clone()))).unwrap().plots();
    assert_eq!(plots[0].series[0].points, [(16.0, 132.0), (24.0, 133.0), (32.0, 134.0), (48.0, 135.0), (64.0, 136.0)]);
    assert_eq!(plots[1].series[3].points, [(2.0, 11.0), (48.0, 57.0)]);
    // A size more, and nobody knows which it is.
    assert_eq!(application(&Rows::pool(strong(6).chain(weak))).err(), Some(Missing));
}

#[test]
fn tables_have_ours_and_the_papers() {
    let sides = ["origin ns", "target ns"].into_iter();
    let all = sides.flat_map(|side| MATRICES.into_iter().flat_map(move |(n, _)| of_all(n, 1 << 18, side, n * 1900)));
    let rows = Rows::pool(all);
    for (content, heights) in [
        (existing_designs(&rows), (2, 3)),
        (skewed(&rows, "origin", &TABLE_2), (4, 3)),
        (skewed(&rows, "target", &TABLE_3), (4, 3)),
    ] {
        let Content::Table(Table { header, rows }) = content.unwrap() else { panic!("no table") };
        assert_eq!(rows.len(), heights.0 + heights.1);
        assert!(rows.iter().all(|row| row.len() == header.len()) && header.len() == 6);
        assert_eq!(rows[0], ["two-sided (scc)", "0", "61", "122", "243", "486"]);
        assert_eq!(rows[heights.0][0], "paper: MVAPICH2 (Clovertown)");
    }
}
