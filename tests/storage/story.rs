//! The conformance story that every backend must pass. A chapter is one subject; each of its tests
//! gets a separate, empty database.

pub(super) mod administration;
pub(super) mod certificates;
pub(super) mod configuration;
pub(super) mod counters;
pub(super) mod events;
pub(super) mod experiences;
pub(super) mod housekeeping;
pub(super) mod imports;
pub(super) mod inlays;
pub(super) mod panics;
pub(super) mod reopening;
pub(super) mod rotation;
pub(super) mod search;
pub(super) mod sheets;
pub(super) mod tags;
pub(super) mod taps;
pub(super) mod unlisted;
pub(super) mod updates;
pub(super) mod visitors;

/// The whole story as tests of one backend.
macro_rules! story {
    ($backend:path) => {
        $crate::storage::story::chapters! { $backend:
            administration: secrets_and_settings_are_kept
                a_token_is_known_until_it_is_removed;
            certificates: the_third_failure_is_told_also_if_a_node_ended_in_an_attempt
                a_challenge_is_answered_until_its_attempt_ends
                a_certificate_with_a_lost_key_is_replaced_early_and_failures_keep_their_pause;
            configuration: the_epoch_grows_before_a_change_is_acknowledged
                what_is_no_configuration_leaves_the_epoch;
            counters: a_code_is_accepted_once_and_only_after_those_before_it
                of_many_at_once_with_one_code_one_is_accepted
                other_keys_start_anew_and_former_ones_come_back_with_their_counter
                keys_that_change_under_taps_make_no_code_good_again
                a_counter_outlives_its_inlay
                what_is_foreseen_is_what_is_decided_and_moves_nothing
                a_counter_without_a_mac_is_judged_alike_everywhere
                codes_of_a_blocked_inlay_are_spent_and_prove_nothing;
            events: a_tap_is_told_after_its_commit
                an_update_is_told_with_its_changes_and_a_refusal_is_not;
            experiences: a_tag_leads_to_what_is_published_and_not_to_a_draft
                a_version_never_changes
                what_is_published_already_is_no_new_version
                experiences_are_found_by_name_and_kind
                an_image_goes_when_no_page_shows_it
                an_edit_that_is_refused_changes_nothing
                an_experience_goes_when_no_tag_leads_to_it
                a_restored_tag_leads_to_no_deleted_experience;
            housekeeping: a_key_is_kept_as_long_as_it_lives
                interactions_before_the_given_moment_go_and_nothing_else
                old_visitors_of_one_tag_are_forgotten_a_bounded_number_in_a_round
                a_trace_tells_each_read_once_while_reads_are_stored
                a_note_of_staff_goes_with_its_interaction
                what_is_due_goes_in_rounds_until_nothing_is_left
                what_is_dated_ahead_holds_up_nothing_that_is_due
                a_clock_that_was_ahead_holds_up_nothing_that_is_due
                taps_go_on_while_a_full_history_is_removed
                a_read_of_this_application_goes_after_the_tap_beyond_it;
            panics: an_operation_that_panics_fails_alone;
            imports: each_row_with_a_result_is_stored_and_no_other
                rows_become_tags_a_hundred_at_a_time_in_their_order
                what_is_not_decided_leaves_nothing
                what_is_decided_is_finished_after_a_crash
                what_an_import_needs_nobody_else_gets
                what_happens_to_a_tag_meanwhile_is_not_lost;
            inlays: an_inlay_is_found_on_its_tag_and_in_lists
                the_tag_of_an_inlay_of_a_template_is_found_by_its_uid
                a_uid_is_taken_until_its_inlay_is_deleted
                an_edit_that_is_refused_changes_nothing
                inlays_go_on_tags_of_their_own_world_that_exist
                inlays_that_may_explain_a_code_are_those_of_other_tags
                a_master_key_goes_when_no_inlay_uses_it
                the_other_keys_of_a_chip_are_keys_as_any
                a_virtual_inlay_counts_its_reads_and_stays_simulated
                what_makes_half_a_virtual_inlay_makes_nothing;
            reopening: everything_is_found_again
                no_id_of_an_interaction_comes_twice
                keys_from_a_later_clock_never_come_back
                simulated_time_expires_no_real_key
                what_is_closed_refuses
                what_was_acknowledged_outlives_a_crash;
            rotation: a_rotation_goes_on_wherever_it_was_ended
                a_secret_that_no_key_opens_is_told_before_anything_is_changed;
            search: a_search_finds_the_tags_that_contain_all_of_its_words
                a_search_for_a_uid_finds_the_tags_of_however_many_inlays;
            sheets: rows_are_kept_in_their_order_until_the_sheet_is_closed;
            tags: a_tag_is_found_as_it_was_stored
                a_tag_that_breaks_a_rule_is_refused_alone
                an_edit_that_is_refused_changes_nothing
                of_many_edits_at_once_none_is_lost
                a_deleted_tag_is_gone_until_it_is_restored
                a_property_is_put_and_removed;
            taps: what_a_key_was_issued_for_is_found_by_its_id
                a_tap_without_a_key_leaves_none
                taps_are_counted_where_they_were_made
                the_first_tap_at_a_template_is_noted_with_it_or_not_at_all
                a_test_tap_is_known_from_its_commit_on;
            unlisted: what_a_tap_creates_is_created_with_its_record_or_not_at_all
                what_was_acknowledged_of_an_unlisted_chip_outlives_a_crash
                another_key_of_a_chip_has_another_counter
                the_newest_unlisted_chips_of_each_template_are_kept;
            updates: a_key_updates_once
                of_many_updates_at_once_with_one_key_one_is_done
                the_same_request_is_answered_again_and_no_other
                a_key_lives_for_300_seconds
                a_refusal_names_its_reason_and_writes_nothing
                simulated_keys_live_in_simulated_time;
            visitors: a_visitor_is_known_for_a_day_and_for_30_days
                a_visitor_is_known_at_a_tag_only
                what_was_read_before_an_erasing_or_an_edit_is_not_stored_for_webhooks;
        }
    };
}

macro_rules! chapters {
    ($backend:path: $($chapter:ident: $($test:ident)+;)+) => {$(
        mod $chapter {
            $(
                #[tokio::test]
                async fn $test() {
                    let database = $crate::storage::backend::Database::<$backend>::create().await;
                    $crate::storage::story::$chapter::$test(database).await;
                }
            )+
        }
    )+};
}

pub(crate) use chapters;
