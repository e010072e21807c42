//! The list of tests, and how they are run.

use hal::{Core, Layout};

use crate::{
    Context, allocation, arguments, barrier, barriers_elsewhere, broadcast, broadcast_cost, channel, check::Outcome,
    cluster, coherence, copy_engine, default_broadcast, domains, epoch_cost, exchanges, exposed, fence, fft,
    floating_point, group_barriers, hazards, interrupts, litmus, locks, marks, memory, messages, nonblocking,
    notification, operations, overlap, passive, private_window, promises, pscw, queue, reductions, registers, traces,
    waiting, window,
};

macro_rules! suite {
    ($( $module:ident :: { $( $test:ident ),* $(,)? } )*) => {
        /// The names of all tests.
        pub const NAMES: &[&str] = &[$( $( concat!(stringify!($module), "::", stringify!($test)), )* )*];

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
    memory::{
        statics_are_private,
        unflushed_store_is_unseen,
        cached_read_without_invalidate_is_stale,
        mpb_read_without_invalidate_is_stale,
        combined_read_without_invalidate_is_stale,
        undrained_mpb_store_is_unseen,
        undrained_put_is_unseen,
        register_does_not_drain,
        false_sharing_loses_an_update,
        masked_writes_do_not_lose_updates,
        copies_of_all_alignments,
        uncached_words_are_current,
        lines_are_atomic,
        first_touches_coincide,
        more_pages_than_frames,
        views_do_not_overlap,
    }
    exposed::{
        unflushed_store_of_the_owner_is_unseen,
        put_is_unseen_until_the_owner_invalidates,
        write_back_of_the_owner_wipes_out_a_put,
        neighbours_are_unharmed,
        everybody_exposes,
        exposed_and_ended_many_times,
        views_of_exposed_memory,
        words_of_exposed_memory,
        mappings_are_reused,
        refusals,
    }
    domains::{
        cached_stores_are_seen_inside,
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
    registers::{ exclude, are_freed_by_any_write, }
    waiting::{ times_out, }
    litmus::{ store_buffering, message_passing, load_buffering, independent_reads, }
    floating_point::{ is_53_bits, }
    barrier::{ separates_phases, back_to_back, costs_what_it_should, }
    group_barriers::{
        separate_phases,
        groups,
        back_to_back,
        split_phase,
        several_at_once,
        cost_what_they_should,
        refusals,
        ends_are_barriers,
    }
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
    coherence::{ barriers_publish, split_phase_barriers_publish, groups_publish, costs_what_it_should, }
    cluster::{ barriers, broadcasts, puts_and_gets, neighbouring_bytes_stay, the_last_word_implies_the_others, }
    locks::{
        mutexes_exclude,
        pass_on_what_was_stored,
        several_locks,
        cost_what_they_should,
        misuse_is_refused,
        refused_mutexes_leave_locks,
        what_was_seen_before_is_forgotten,
        queue_locks_come_and_go,
    }
    messages::{
        ring_of_all_sizes,
        opposite_directions,
        empty_messages_synchronise,
        lengths_differ,
        cost_what_they_should,
        refuse_bad_peers,
    }
    broadcast::{
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
    default_broadcast::{
        all_sizes,
        all_roots,
        back_to_back,
        ranks_come_late,
        mixed_with_other_operations,
        next_to_windows,
        short_ones_cost_a_line,
        long_ones_are_read_once,
        refuses_bad_roots,
    }
    broadcast_cost::{ oc_bcast, oc_bcast_flags, binomial, scatter_allgather, one_sided_scatter_allgather, }
    exchanges::{
        gathers,
        scatters,
        allgathers,
        alltoalls,
        different_lengths,
        short_back_to_back,
        wider_elements,
        refuse_bad_arguments,
        cost_what_they_should,
    }
    reductions::{
        all_sizes,
        all_roots_back_to_back,
        mixed_back_to_back,
        all_operators,
        elements_of_odd_sizes,
        floats_are_reproducible,
        brackets_are_as_documented,
        words_that_look_like_tags,
        messages_follow_long_ones,
        refuses_bad_arguments,
        costs_what_it_should,
    }
    nonblocking::{
        broadcasts,
        allreduces,
        the_order_is_that_of_ranks,
        barriers_separate_phases,
        several_in_any_order,
        go_on_in_blocking_waits,
        too_many_are_refused,
        lines_are_lent_and_come_back,
        cost_what_they_should,
    }
    allocation::{ allocations_do_not_overlap, freed_memory_merges, blocks_with_a_spare_line, placements, refusals, zeroed, }
    window::{
        uneven_parts,
        misuse_is_refused,
        views_come_back,
        made_and_freed_many_times,
        classes_differ,
        elements_differ,
        failures_are_collective,
        full_database_is_refused,
        fresh_part_on_a_cached_page,
        freed_memory_is_not_written_any_more,
    }
    pscw::{
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
    queue::{
        operations_do_not_block,
        queued_operations_go_out_before_complete,
        a_late_target_holds_up_no_other,
        operations_keep_their_order,
        a_full_queue_is_progressed,
    }
    promises::{ no_check_over_many_epochs, no_check_broken, no_store, no_put, }
    marks::{ one_and_many, bipartite_groups, changing_groups, numbers_wrap_around, more_windows_than_lines, }
    epoch_cost::{
        match_vectors_cost_the_papers_updates,
        marks_cost_line_writes,
        marks_of_all_pairs_are_kept,
        puts_cost_their_lines,
    }
    operations::{
        shapes_of_all_sizes,
        contributions_are_complete,
        tickets_are_unique,
        one_swap_wins,
        notified_puts_are_there,
        what_does_not_fit_is_refused,
        overlapping_blocks_are_got,
    }
    fence::{
        epochs_are_separated,
        fences_back_to_back,
        all_assertions,
        no_precede_does_nothing,
        fences_exclude_other_epochs,
        fences_of_two_windows,
    }
    passive::{
        exclusive_locks_exclude,
        shared_locks_are_shared,
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
    fft::{ equals_its_sums, is_the_same_everywhere, lengths, refuses_too_much, }
    copy_engine::{ clients_put_and_get, engines_copy_meanwhile, }
    private_window::{ neighbours_reach_it, less_than_the_part_is_refused, }
    channel::{
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
    hazards::{ real_protocol_keeps_the_post, }
    traces::{ operations_nest_and_waits_have_places, nothing_is_noted_without_a_trace, }
    interrupts::{ come_while_programs_compute, are_deferred, come_from_everybody, }
    notification::{
        reach_ranks_that_compute,
        all_sizes,
        all_trees,
        concurrent_roots,
        full_mailboxes_hold_roots_up,
        others_are_not_disturbed,
        polling_works_as_well,
        what_is_left_comes_at_the_end,
        misuse_is_refused,
        costs_what_it_should,
    }
}

/// What the names of tests begin with that machines pass on which no register reaches beyond its coherence domain and
/// lines of other domains do not move as a whole.
const BETWEEN_DOMAINS: &[&str] = &[
    "arguments::",
    "barrier::",
    "broadcast::",
    "cluster::",
    "default_broadcast::",
    "exchanges::",
    "fence::",
    "floating_point::",
    "marks::",
    "messages::",
    "nonblocking::",
    "overlap::",
    "pscw::",
    "reductions::",
    "traces::",
];

/// Whether the machine has what a test needs.
pub fn suits(name: &str, layout: &Layout) -> bool {
    layout.registers_reach_everywhere() || BETWEEN_DOMAINS.iter().any(|prefix| name.starts_with(prefix))
}

/// [`run`] in the simulator, where it is compiled once for all host tests that use it.
#[cfg(not(target_os = "none"))]
pub fn run_simulated(name: &str, context: &mut Context<'_, '_, hal::sim::SimCore>) -> Outcome {
    run(name, context)
}
