use super::*;

#[test]
fn scc_distances_are_those_of_the_paper() {
    let scc = Layout::scc();
    assert_eq!(scc.cores(), 48);
    assert_eq!(scc.distance(CoreId::new(0), CoreId::new(1)), 1);
    assert_eq!(scc.distance(CoreId::new(0), CoreId::new(47)), 9);
    assert_eq!(scc.tile(CoreId::new(47)), Tile { x: 5, y: 3 });
}

#[test]
fn quadrants_own_controllers() {
    let scc = Layout::scc();
    // The standard core list of sccMerge: pids 0–5 and 12–17 on (0,0), 6–11 and 18–23 on (5,0), and so on.
    for pid in 0..48 {
        let expected = match pid {
            0..=5 | 12..=17 => 0,
            6..=11 | 18..=23 => 1,
            24..=29 | 36..=41 => 2,
            _ => 3,
        };
        assert_eq!(scc.nearest_controller(CoreId::new(pid)), expected, "core {pid}");
    }
    assert_eq!(scc.controller_tile(3), Tile { x: 5, y: 2 });
}

#[test]
fn a_mesh_grows_rows_for_more_cores() {
    let grown = Layout::scc().with_cores(255);
    assert_eq!((grown.columns(), grown.rows(), grown.cores()), (6, 22, 255));
    let one = Layout::mesh(1, 1, 1);
    assert_eq!(one.nearest_controller(CoreId::new(0)), 0);
    assert_eq!(one.controller_distance(CoreId::new(0), 3), 1);
}

#[test]
fn other_boards_have_other_controllers() {
    let board = Layout::mesh(3, 1, 4).with_controllers(&[Tile { x: 2, y: 0 }, Tile { x: 0, y: 0 }]);
    let nearest: [usize; 12] = core::array::from_fn(|core| board.nearest_controller(CoreId::new(core)));
    assert_eq!(nearest, [1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!((board.controllers(), board.controller_distance(CoreId::new(0), 0)), (2, 3));
    assert_eq!(board.with_cores(13).controllers(), 2);
}

#[test]
fn domains_group_neighbours() {
    let layout = Layout::mesh(2, 2, 2).with_domains_of(4);
    assert_eq!(layout.domain(CoreId::new(3)), 0);
    assert_eq!(layout.domain(CoreId::new(4)), 1);
    let odd = layout.with_cores(7).with_domains_of(3);
    assert_eq!((odd.domains(), odd.domain_cores(0), odd.domain_cores(2), odd.domain_cores(3)), (3, 0..3, 6..7, 7..7));
    let two = Layout::scc().with_domains(2).with_cores(9);
    assert_eq!((two.domains(), two.cores_per_domain(), two.domain(CoreId::new(5))), (2, 5, 1));
    assert_eq!(two.with_cores(1).domains(), 1);
    assert!(two.has_domains() && !Layout::scc().has_domains());
}

#[test]
fn memory_belongs_to_a_domain_where_the_controller_is_its_own() {
    let ends = [Tile { x: 0, y: 0 }, Tile { x: 1, y: 0 }, Tile { x: 1, y: 1 }];
    let layout = Layout::mesh(2, 2, 2).with_domains_of(2);
    let homes = |layout: Layout| [0, 1, 2].map(|controller| layout.home_domain(Home::Controller(controller)));
    assert_eq!(homes(layout), [None; 3]);
    // Tile (0, 1) is as far from the first controller as from the third, and the first wins.
    assert_eq!(homes(layout.with_controllers(&ends)), [None, Some(1), Some(3)]);
    assert_eq!(homes(layout.with_controllers(&ends).with_domains_of(1)), [None; 3]);
    assert_eq!(layout.home_domain(Home::Core(CoreId::new(5))), Some(2));
    assert_eq!(Layout::scc().home_domain(Home::Core(CoreId::new(5))), None);
}

#[test]
fn nodes_are_tiles_domains_and_homes() {
    let cluster = Layout::cluster(6, 4);
    assert_eq!((cluster.columns(), cluster.rows(), cluster.cores(), cluster.domains()), (3, 2, 24, 6));
    assert_eq!((cluster.controllers(), cluster.controller_tile(4)), (6, Tile { x: 1, y: 1 }));
    for core in 0..24 {
        let core = CoreId::new(core);
        assert_eq!((cluster.domain(core), cluster.nearest_controller(core)), (core.index() / 4, core.index() / 4));
        assert_eq!(cluster.controller_tile(cluster.nearest_controller(core)), cluster.tile(core));
    }
    assert!(!cluster.reaches_register(CoreId::new(3), CoreId::new(4)));
    let fewer = cluster.with_cores(9);
    assert_eq!((fewer.controllers(), fewer.domains(), fewer.domain_cores(2)), (3, 3, 8..9));
    assert_eq!(Layout::cluster(65_535, 1).cores(), 65_535);
}

#[test]
fn many_nodes_share_homes_evenly() {
    for nodes in [64, 65, 100, 127, 128, 4096] {
        let cluster = Layout::cluster(nodes, 1);
        assert_eq!(cluster.controllers(), MAX_CONTROLLERS);
        let mut users = [0; MAX_CONTROLLERS];
        for core in (0..cluster.cores()).map(CoreId::new) {
            users[cluster.nearest_controller(core)] += 1;
        }
        let even = usize::from(nodes) / MAX_CONTROLLERS;
        assert!(users.iter().all(|users| (even..=even + 1).contains(users)), "{nodes} nodes: {users:?}");
        for controller in 0..MAX_CONTROLLERS {
            let at = cluster.controller_tile(controller);
            let node = CoreId::new(usize::from(at.x) + cluster.columns() * usize::from(at.y));
            assert_eq!(cluster.nearest_controller(node), controller, "of {nodes} nodes");
        }
    }
}

#[test]
fn registers_may_reach_no_further_than_their_domain() {
    let layout = Layout::mesh(2, 2, 2).with_domains_of(4);
    let [near, far] = [3, 4].map(CoreId::new);
    assert!(layout.reaches_register(near, far) && layout.registers_reach_everywhere());
    let cluster = layout.with_registers_in_domains().with_cores(12);
    assert!(cluster.reaches_register(CoreId::new(0), near) && !cluster.reaches_register(near, far));
    assert!(!cluster.registers_reach_everywhere() && cluster.with_cores(4).registers_reach_everywhere());
}
