//! Names of people in identifiers are found; the names that programs give to things are not.

use phi_detect::Detector;

fn found(text: &str) -> Option<&str> {
    let findings = Detector::default().scan_identifier(text);
    let name = findings.iter().next()?;
    assert_eq!(name.rule, "name.joined");
    Some(&text[name.span.clone()])
}

#[test]
fn person_name_is_found_however_joined() {
    for text in [
        "Maria_Delgado",
        "maria_delgado",
        "John.Smith",
        "john-smith",
        "MariaDelgado",
        "mariaDelgado",
        "Priya_Raghunathan",
        "Nguyen_Van_An",
        "delgado.maria",
        "john_west",
        "josé_garcía",
        "kofi:okonkwo",
        "maria_de_la_cruz",
    ] {
        assert_eq!(found(text), Some(text));
    }
    for (text, name) in [
        ("maria_delgado_1970", "maria_delgado"),
        ("patient-jane-roe", "jane-roe"),
        ("gpt-maria-delgado", "maria-delgado"),
        ("patient_maria_delgado", "maria_delgado"),
        ("getChartOfMariaDelgado", "MariaDelgado"),
        ("ft:gpt-4o-mini:maria-delgado::abc123", "maria-delgado"),
        ("maria_delgado_agent", "maria_delgado"),
        ("Dr_Patel", "Patel"),
        ("Zebulon_Hartley", "Zebulon_Hartley"),
    ] {
        assert_eq!(found(text), Some(name), "{text}");
    }
}

#[test]
fn names_of_programs_are_not_names() {
    let texts = "weather_agent data-analyst get_patient GetPatient planner_agent PlannerAgent code_reviewer \
        triage_nurse user_1 user-proxy example_user support-bot sales_manager project.manager web_surfer \
        max_tokens alice Bob gpt-4o claude-code intake_form research_assistant red-team python_expert \
        lookup call_center order.status new_york charlotte_nc san-francisco grady_memorial jenkins_ci \
        [NAME] [NAME]_2 team_alpha billing_agent grace_agent user_8f3a2c a.b.c billing_address first_name \
        grant_type mark_read will_paginate may_fail jackson-databind django_rest mount_sinai_hospital \
        frequency_penalty response_format parallel_tool_calls claude-3-5-sonnet-20241022 gemini-1.5-pro \
        text-embedding-ada-002 roberta-large-mnli meta-llama/Llama-3-8b julia_kernel cassandra_keyspace \
        additionalProperties maxCompletionTokens toolu_01A09q90qw90lq917835lq9 dr_failover ms_teams \
        chatcmpl-9zAnnQuoRtY2 rose_garden jack_port patient_name date_of_birth mary summer_camp \
        round_robin martin_luther_king_hospital carbon_copy alexa_skill_kit";
    let found: Vec<_> = texts
        .split_ascii_whitespace()
        .filter_map(|text| Some((text, found(text)?)))
        .collect();
    assert_eq!(found, []);
}
