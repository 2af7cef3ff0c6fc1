//! Promises that every engine must keep. Each promise is one function; every engine runs all of them.

use crate::support::Site;
use crate::support::postgres::Postgres;

/// Makes one test per promise and engine.
macro_rules! promises {
    ($($module:ident: $($name:ident),* $(,)?;)*) => {
        mod sqlite {
            use super::*;
            $($(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $name() {
                    crate::promises::$module::$name(Site::sqlite()).await;
                }
            )*)*
        }
        mod postgres {
            use super::*;
            // One server for the promises of a subject: starting one takes a second.
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $module() {
                    let Some(server) = Postgres::start() else { return };
                    $(
                        println!("{}", stringify!($name));
                        crate::promises::$module::$name(Site::postgres(&server, stringify!($name))).await;
                    )*
                }
            )*
        }
    };
}

promises! {
    // One line per promise.
    opening:
        a_first_start_makes_everything_and_a_second_finds_it,
        several_first_starts_at_once_make_one_store,
        a_wrong_or_missing_master_key_is_refused,
        nothing_is_made_unless_asked_for;
    keys:
        a_key_admits_until_it_is_revoked_or_expires,
        reads_that_overtake_one_another_are_no_tampering,
        a_rotated_key_overlaps_with_its_successor,
        changes_by_another_process_bind_the_next_call,
        provider_keys_come_back_only_through_admission;
    policy:
        words_of_every_level_bind_the_next_call,
        kinds_change_settings_and_words_in_one_act,
        records_spell_out_each_policy,
        rotated_key_keeps_group_and_words,
        wrong_levels_are_refused,
        allowed_values_bind_and_count_uses;
    rosters:
        roster_binds_the_next_call_and_is_read_once;
    recognizers:
        recognizers_bind_the_next_call_and_leave_with_their_words,
        account_has_no_more_than_64_recognizers;
    people:
        a_login_needs_the_right_password_and_failures_are_slowed_down,
        failures_are_counted_across_processes_and_before_the_password_is_looked_at,
        strangers_lock_nobody_out,
        guesses_from_many_addresses_are_slowed_and_recorded,
        one_origin_may_not_lock_others_out_nor_try_many_addresses,
        counts_of_failures_expire,
        an_owner_link_dies_when_there_is_an_owner,
        owner_links_made_together_all_work,
        owners_added_together_are_all_there,
        the_second_step_of_a_login_may_reach_another_process,
        looking_at_a_session_is_no_use_of_it,
        a_session_ends_when_idle_when_old_and_when_ended,
        a_new_password_ends_other_sessions,
        a_link_works_once,
        an_invitation_can_be_used_is_replaced_and_goes_with_its_user,
        a_one_time_code_works_once,
        a_recovery_code_works_once_and_goes_with_the_second_factor,
        a_code_that_is_typed_twice_at_one_moment_works_once,
        a_changed_role_ends_sessions_which_an_owner_sees;
    sign_on:
        rights_of_last_login_bind_on_replicas,
        logout_token_works_once_on_replicas,
        client_secret_stays_with_its_client,
        logins_at_one_moment_all_succeed;
    reveals:
        another_person_approves_and_all_is_recorded,
        approval_and_its_use_have_thirty_minutes,
        declined_request_opens_nothing,
        emergency_shows_content_and_raises_an_alert;
    records:
        a_decision_is_there_when_it_is_acknowledged,
        lazily_recorded_decisions_are_never_lost_on_close,
        a_request_that_is_over_at_once_is_written_whole,
        an_abandoned_decision_leaves_no_open_request,
        a_second_outcome_is_not_written,
        requests_of_a_dead_process_are_interrupted_and_those_of_a_live_one_are_not,
        many_writers_share_groups_and_every_record_is_there,
        a_clock_that_jumps_loses_and_doubles_nothing;
    reading:
        lists_filter_and_page_newest_first,
        content_comes_back_only_by_reveal_which_is_recorded_first,
        an_identifier_is_found_by_its_value_and_only_in_its_account,
        an_identifier_is_found_among_thousands_of_requests,
        content_is_found_by_the_tokens_that_stood_for_it,
        figures_add_up,
        an_attempt_tells_whom_else_an_identifier_went_to,
        a_disclosure_of_a_blocked_request_names_no_provider,
        how_providers_fare_is_told_of_the_last_sixty_minutes,
        accounts_are_walls;
    alerting:
        alert_is_raised_once_per_day_and_acknowledged,
        alert_of_act_is_recorded_with_it,
        night_is_verified_once_and_recorded;
    choosing:
        requests_are_chosen_by_what_came_of_them_and_counted,
        what_is_rare_is_found_wherever_it_is,
        acts_are_chosen_by_person_and_exports_are_recorded,
        revealed_content_is_opened_again_for_the_same_person_for_a_while;
    trail:
        an_honest_trail_verifies_in_the_store_and_offline,
        a_filtered_export_verifies_too,
        every_change_to_an_export_is_found,
        a_cut_trail_is_found_by_a_checkpoint_kept_elsewhere;
    exporting:
        target_can_verify_what_it_receives,
        choice_leaves_gaps_that_verify,
        interrupted_export_repeats_the_same_lines,
        one_process_holds_an_export,
        rewound_export_sends_from_a_time_on,
        retention_records_what_a_target_never_had,
        secret_opens_only_for_its_target;
    keeping:
        retention_deletes_what_is_due_and_the_trail_still_verifies,
        records_of_the_installation_expire,
        erased_content_is_gone_and_the_trail_still_verifies,
        legal_hold_keeps_everything,
        a_deleted_account_cannot_be_read_any_more,
        a_rotated_master_key_opens_everything_and_the_old_one_nothing;
}
