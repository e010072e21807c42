//! The list of tests, and how they are run.

use bitflags::bitflags;
use hal::{Core, Layout};

use crate::{
    Context, allocation, arguments, barrier, barriers_elsewhere, broadcast, broadcast_cost, channel, check::Outcome,
    cluster, coherence, communicators, conformance, copy_engine, default_broadcast, domains, epoch_cost, exchanges,
    exposed, fence, fft, floating_point, group_barriers, hazards, intercommunicators, interrupting, interrupts, litmus,
    locks, marks, memory, messages, nonblocking, notification, operations, overlap, passive, private_window, promises,
    pscw, queue, reductions, registers, traces, waiting, window,
};

bitflags! {
    /// What a test needs, and what its outcome depends on. A test says so in the list below; what it does not say, it does
    /// not need.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Needs: u8 {
        /// Registers that all cores reach, and lines that move as a whole: what there is between the nodes of no cluster.
        const REGISTERS = 1;
        /// Four memory controllers.
        const CONTROLLERS = 2;
        /// Hardware that does nothing on its own account. The test shows what caches and buffers keep to themselves, and
        /// with a seed they evict and drain.
        const QUIET = 4;
        /// Many cores: with more ranks it takes other paths (deeper trees, more lines, longer tables, other algorithms),
        /// and so it runs on 48 cores in QEMU and on 131 simulated ones, too. All others
        /// say nothing about many cores that they do not say about 16, where all run.
        const SIZE = 8;
        /// The machine itself: how cores are started and interrupted, what memory and caches do, which time it is; and
        /// epochs, broadcasts and locks, which rest on all of that. Such tests run on PCs, boards and threads of all sizes. What is the
        /// same code on every machine runs on one of each kind.
        const MACHINE = 16;
        /// The largest machine that there is of a kind: 255 cores in QEMU and in the simulator, 48 of a board, 8 threads of the host. That takes
        /// minutes, so of each family that depends on size and machine one or two tests run there, whose ranks all reach each other or all
        /// take part.
        const LARGEST = 128;
        /// The algorithms that are the fastest on a mesh of cores without coherence: the test counts what these cost.
        const MESH = 32;
        /// Interrupts that come in the middle of a computation, and not only at its end.
        const INTERRUPTS = 64;
    }
}

macro_rules! suite {
    ($(
        $( #[needs($( $all:ident ),*)] )?
        $module:ident :: { $( $( #[needs($( $need:ident ),*)] )? $test:ident ),* $(,)? }
    )*) => {
        /// The names of all tests.
        pub const NAMES: &[&str] = &[$( $( concat!(stringify!($module), "::", stringify!($test)), )* )*];

        /// What the test with this name needs.
        ///
        /// # Panics
        /// If there is no such test.
        pub fn needs(name: &str) -> Needs {
            $(
                let all = Needs::empty()$( $( .union(Needs::$all) )* )?;
                $(
                    if name == concat!(stringify!($module), "::", stringify!($test)) {
                        return all$( $( .union(Needs::$need) )* )?;
                    }
                )*
            )*
            panic!("there is no test {name}")
        }

        /// Runs the test with this name. Collective.
        ///
        /// # Errors
        /// What the test found wrong on this rank.
        ///
        /// # Panics
        /// If there is no such test.
        pub fn run<C: Core>(name: &str, context: &mut Context<'_, '_, C>) -> Outcome {
            $( $(
                if name == concat!(stringify!($module), "::", stringify!($test)) {
                    return $module::$test(context);
                }
            )* )*
            panic!("there is no test {name}")
        }
    };
}

suite! {
    #[needs(REGISTERS, MACHINE)]
    conformance::{ finds_no_defect, }
    #[needs(REGISTERS, MACHINE)]
    memory::{
        #[needs(SIZE, LARGEST)]
        statics_are_private,
        #[needs(QUIET)]
        unflushed_store_is_unseen,
        #[needs(QUIET)]
        cached_read_without_invalidate_is_stale,
        #[needs(QUIET)]
        mpb_read_without_invalidate_is_stale,
        #[needs(QUIET)]
        combined_read_without_invalidate_is_stale,
        #[needs(QUIET)]
        undrained_mpb_store_is_unseen,
        #[needs(QUIET)]
        undrained_put_is_unseen,
        #[needs(QUIET)]
        register_does_not_drain,
        #[needs(QUIET)]
        false_sharing_loses_an_update,
        masked_writes_do_not_lose_updates,
        copies_of_all_alignments,
        uncached_words_are_current,
        lines_are_atomic,
        first_touches_coincide,
        #[needs(QUIET)]
        more_pages_than_frames,
        views_do_not_overlap,
        memory_that_does_not_exist,
        copies_and_fills,
    }
    #[needs(REGISTERS, MACHINE)]
    exposed::{
        #[needs(QUIET)]
        unflushed_store_of_the_owner_is_unseen,
        #[needs(QUIET)]
        put_is_unseen_until_the_owner_invalidates,
        #[needs(QUIET)]
        write_back_of_the_owner_wipes_out_a_put,
        neighbours_are_unharmed,
        #[needs(SIZE, LARGEST)]
        everybody_exposes,
        exposed_and_ended_many_times,
        views_of_exposed_memory,
        words_of_exposed_memory,
        mappings_are_reused,
        refusals,
    }
    #[needs(REGISTERS, MACHINE)]
    domains::{
        #[needs(QUIET)]
        cached_stores_are_seen_inside,
        #[needs(QUIET)]
        false_sharing_is_harmless_inside,
        pushed_flags_end_local_spinning,
        cached_flags_end_local_spinning,
        stores_survive_flushes_of_others,
        slices_survive_flushes_of_others,
        domains_have_finite_caches,
        flushes_hand_data_over,
    }
    arguments::{
        disagreements_are_told_to_all,
        lengths_of_blocks,
    }
    #[needs(REGISTERS, MACHINE)]
    registers::{ #[needs(SIZE, LARGEST)] exclude, are_freed_by_any_write, }
    #[needs(REGISTERS, MACHINE)]
    waiting::{ times_out, }
    #[needs(REGISTERS)]
    litmus::{ store_buffering, message_passing, load_buffering, independent_reads, }
    #[needs(MACHINE)]
    floating_point::{ is_53_bits, }
    #[needs(SIZE, MACHINE)]
    barrier::{ #[needs(LARGEST)] separates_phases, back_to_back, costs_what_it_should, }
    #[needs(REGISTERS, SIZE)]
    group_barriers::{
        separate_phases,
        #[needs(MACHINE, LARGEST)]
        groups,
        back_to_back,
        split_phase,
        several_at_once,
        cost_what_they_should,
        refusals,
        ends_are_barriers,
    }
    #[needs(REGISTERS, SIZE)]
    barriers_elsewhere::{
        separate_phases,
        groups,
        back_to_back,
        split_phase,
        cost_what_they_should,
        atomic_counters_run_out,
        different_kinds_are_refused,
        registers_are_taken,
    }
    #[needs(REGISTERS, SIZE, MACHINE)]
    coherence::{ #[needs(LARGEST)] barriers_publish, split_phase_barriers_publish, groups_publish, costs_what_it_should, }
    cluster::{ barriers, broadcasts, puts_and_gets, neighbouring_bytes_stay, the_last_word_implies_the_others, }
    #[needs(REGISTERS, SIZE, MACHINE)]
    locks::{
        #[needs(LARGEST)]
        mutexes_exclude,
        pass_on_what_was_stored,
        several_locks,
        cost_what_they_should,
        misuse_is_refused,
        refused_mutexes_leave_locks,
        what_was_seen_before_is_forgotten,
        #[needs(LARGEST)]
        queue_locks_come_and_go,
    }
    #[needs(SIZE)]
    messages::{
        #[needs(MACHINE, LARGEST)]
        ring_of_all_sizes,
        opposite_directions,
        empty_messages_synchronise,
        lengths_differ,
        cost_what_they_should,
        refuse_bad_peers,
    }
    #[needs(SIZE, MACHINE)]
    broadcast::{
        #[needs(LARGEST)]
        all_roots,
        all_sizes,
        slices_of_whole_buffers,
        all_degrees,
        back_to_back,
        rcce_profile,
        rcce_profile_waits_for_others,
        rcce_profile_excludes_others,
        refuses_bad_arguments,
    }
    #[needs(SIZE)]
    default_broadcast::{
        all_sizes,
        #[needs(MACHINE, LARGEST)]
        all_roots,
        back_to_back,
        ranks_come_late,
        mixed_with_other_operations,
        next_to_windows,
        #[needs(MESH)]
        short_ones_cost_a_line,
        #[needs(MESH)]
        long_ones_are_read_once,
        refuses_bad_roots,
    }
    #[needs(REGISTERS, SIZE)]
    broadcast_cost::{ oc_bcast, oc_bcast_flags, binomial, scatter_allgather, one_sided_scatter_allgather, }
    #[needs(SIZE)]
    exchanges::{
        gathers,
        scatters,
        #[needs(MACHINE, LARGEST)]
        allgathers,
        alltoalls,
        different_lengths,
        short_back_to_back,
        wider_elements,
        pieces_on_one_side,
        refuse_bad_arguments,
        #[needs(MESH)]
        cost_what_they_should,
    }
    #[needs(SIZE)]
    reductions::{
        all_sizes,
        all_roots_back_to_back,
        #[needs(MACHINE, LARGEST)]
        mixed_back_to_back,
        all_operators,
        elements_of_odd_sizes,
        floats_are_reproducible,
        brackets_are_as_documented,
        words_that_look_like_tags,
        messages_follow_long_ones,
        named_algorithms_go_for_a_scope,
        refuses_bad_arguments,
        costs_what_it_should,
    }
    #[needs(SIZE)]
    nonblocking::{
        broadcasts,
        allreduces,
        the_order_is_that_of_ranks,
        elements_of_any_size,
        barriers_separate_phases,
        #[needs(MACHINE, LARGEST)]
        several_in_any_order,
        go_on_in_blocking_waits,
        more_than_there_are_lines_for,
        lines_are_lent_and_come_back,
        cost_what_they_should,
    }
    #[needs(REGISTERS)]
    allocation::{ allocations_do_not_overlap, freed_memory_merges, blocks_with_a_spare_line, lengths_that_differ, #[needs(CONTROLLERS)] placements, #[needs(CONTROLLERS)] refusals, zeroed, }
    #[needs(REGISTERS, SIZE, MACHINE)]
    window::{
        #[needs(LARGEST)]
        uneven_parts,
        misuse_is_refused,
        views_come_back,
        exposed_for_a_scope,
        made_and_freed_many_times,
        classes_differ,
        elements_differ,
        failures_are_collective,
        full_database_is_refused,
        fresh_part_on_a_cached_page,
        freed_memory_is_not_written_any_more,
    }
    #[needs(SIZE, MACHINE)]
    pscw::{
        #[needs(LARGEST)]
        put_and_get_all_pairs,
        neighbours_ring,
        parts_are_posted_again,
        empty_groups,
        self_in_the_group,
        disjoint_groups_in_adjacent_epochs,
        early_post_of_a_later_group,
        a_foreign_post_opens_nothing,
        test_loop_reposts_at_once,
        deadlines_pass,
        all_epochs_are_fresh,
        neighbouring_bytes_of_many_origins,
    }
    overlap::{ two_windows_interleaved, start_before_and_after_post, complete_before_and_after_wait, }
    #[needs(REGISTERS)]
    queue::{
        operations_do_not_block,
        queued_operations_go_out_before_complete,
        a_late_target_holds_up_no_other,
        operations_keep_their_order,
        a_full_queue_is_progressed,
    }
    #[needs(REGISTERS)]
    promises::{ no_check_over_many_epochs, no_check_broken, no_store, no_put, }
    #[needs(SIZE)]
    marks::{ one_and_many, #[needs(MACHINE, LARGEST)] bipartite_groups, changing_groups, numbers_wrap_around, more_windows_than_lines, }
    #[needs(REGISTERS, SIZE)]
    epoch_cost::{
        match_vectors_cost_the_papers_updates,
        marks_cost_line_writes,
        marks_of_all_pairs_are_kept,
        puts_cost_their_lines,
    }
    #[needs(REGISTERS)]
    operations::{
        shapes_of_all_sizes,
        #[needs(SIZE)]
        contributions_are_complete,
        #[needs(SIZE)]
        tickets_are_unique,
        one_swap_wins,
        notified_puts_are_there,
        what_does_not_fit_is_refused,
        overlapping_blocks_are_got,
    }
    #[needs(SIZE)]
    fence::{
        epochs_are_separated,
        #[needs(MACHINE, LARGEST)]
        fences_back_to_back,
        all_assertions,
        no_precede_does_nothing,
        fences_exclude_other_epochs,
        fences_of_two_windows,
    }
    #[needs(REGISTERS, SIZE)]
    passive::{
        exclusive_locks_exclude,
        shared_locks_are_shared,
        #[needs(MACHINE, LARGEST)]
        all_parts_at_once,
        swaps_count,
        owners_take_turns,
        owners_lock_their_own_parts,
        locks_are_fair,
        flushed_operations_are_there,
        targets_take_no_part,
        amounts_are_moved,
        misuse_is_refused,
    }
    #[needs(REGISTERS, SIZE)]
    fft::{ equals_its_sums, is_the_same_everywhere, lengths, refuses_too_much, }
    #[needs(REGISTERS)]
    copy_engine::{ clients_put_and_get, engines_copy_meanwhile, }
    #[needs(REGISTERS)]
    private_window::{ #[needs(SIZE)] neighbours_reach_it, less_than_the_part_is_refused, }
    #[needs(REGISTERS, SIZE)]
    channel::{
        #[needs(MACHINE, LARGEST)]
        all_pairs,
        all_sizes,
        accumulates,
        requests_together,
        early_post_of_a_later_group,
        two_windows_interleaved,
        queues_to_a_busy_rank,
        all_waits_drive_the_engine,
        self_in_the_group,
        tests_and_notifications,
        staging_shrinks_and_comes_back,
        costs_what_it_should,
    }
    #[needs(REGISTERS)]
    hazards::{ real_protocol_keeps_the_post, }
    traces::{ operations_nest_and_waits_have_places, nothing_is_noted_without_a_trace, }
    #[needs(REGISTERS, SIZE, MACHINE)]
    interrupts::{ #[needs(LARGEST)] come_while_programs_compute, are_deferred, #[needs(LARGEST)] come_from_everybody, }
    #[needs(REGISTERS)]
    intercommunicators::{ operations_and_messages_cross, operations_are_completed_later, refuses_what_makes_no_sense, }
    #[needs(REGISTERS)]
    interrupting::{
        #[needs(INTERRUPTS)]
        messages_are_received_while_ranks_compute,
        #[needs(INTERRUPTS)]
        packets_are_taken_while_ranks_compute,
        #[needs(INTERRUPTS)]
        operations_go_on_while_ranks_compute,
        #[needs(INTERRUPTS)]
        ranks_that_begin_to_compute_are_interrupted,
        has_the_handler_to_itself,
    }
    #[needs(REGISTERS, SIZE)]
    notification::{
        #[needs(INTERRUPTS)]
        reach_ranks_that_compute,
        all_sizes,
        all_trees,
        #[needs(MACHINE, LARGEST)]
        concurrent_roots,
        full_mailboxes_hold_roots_up,
        others_are_not_disturbed,
        polling_works_as_well,
        what_is_left_comes_at_the_end,
        misuse_is_refused,
        costs_what_it_should,
    }
    // Behind all others: from the first one on, the staging of all ranks has fewer lines, and spare ones are asked for.
    cluster::{ short_messages, }
    #[needs(REGISTERS, SIZE)]
    communicators::{ rows_and_columns, more_than_there_are_lines, messages_with_tags, }
    #[needs(REGISTERS, SIZE)]
    nonblocking::{ all_operations_over_messages, }
}

/// Whether the machine has what a test needs.
pub fn suits(name: &str, layout: &Layout) -> bool {
    let needs = needs(name);
    (layout.registers_reach_everywhere() || !needs.contains(Needs::REGISTERS))
        && (layout.controllers() == 4 || !needs.contains(Needs::CONTROLLERS))
}

/// [`run`] in the simulator, where it is compiled once for all host tests that use it.
#[cfg(not(target_os = "none"))]
pub fn run_simulated(name: &str, context: &mut Context<'_, '_, hal::sim::SimCore>) -> Outcome {
    run(name, context)
}
