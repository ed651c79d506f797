//! The whole input space against the table, written down a second time as data.
#![allow(clippy::unwrap_used)]

use super::*;

/// The table as it reads, `*` for any; the first row that fits counts.
///
/// ```text
/// target  ruling  standing  mode  plan  web_read  class/ceiling   decision
/// ```
const TABLE: &[[&str; 8]] = &[
    [
        "protected",
        "*",
        "*",
        "*",
        "*",
        "*",
        "*",
        "refuse PROTECTED_PATH",
    ],
    [
        "outside",
        "*",
        "*",
        "*",
        "*",
        "*",
        "*",
        "refuse OUTSIDE_WORKSPACE",
    ],
    [
        "*",
        "deny",
        "*",
        "*",
        "*",
        "*",
        "*",
        "refuse APPROVAL_DENIED",
    ],
    [
        "*",
        "*",
        "denied",
        "*",
        "*",
        "*",
        "*",
        "refuse APPROVAL_DENIED",
    ],
    ["*", "*", "approved", "*", "*", "*", "*", "allow"],
    [
        "*",
        "*",
        "*",
        "plan",
        "none",
        "no",
        "*",
        "refuse APPROVAL_REQUIRED",
    ],
    ["*", "*", "*", "*", "*", "*", "above", "stage"],
    ["*", "*", "*", "plan", "covers", "*", "*", "allow"],
    ["*", "*", "*", "auto", "*", "*", "*", "allow"],
    ["*", "allow", "*", "*", "*", "*", "*", "allow"],
    ["*", "*", "*", "*", "*", "*", "*", "stage"],
];

/// Which classes each ceiling holds back, written out.
const ABOVE: &[(&str, &str)] = &[
    ("none", "reversible"),
    ("none", "workspace"),
    ("none", "outside"),
    ("reversible", "workspace"),
    ("reversible", "outside"),
    ("workspace", "outside"),
];

fn columns(facts: &Facts) -> [&'static str; 7] {
    let target = match facts.target {
        Target::Free => "free",
        Target::Protected => "protected",
        Target::Outside => "outside",
    };
    let ruling = match facts.ruling {
        Ruling::Silent => "silent",
        Ruling::Allow => "allow",
        Ruling::Deny => "deny",
    };
    let standing = match facts.standing {
        Standing::Unasked => "unasked",
        Standing::Approved => "approved",
        Standing::Denied => "denied",
    };
    let plan = match facts.plan {
        PlanStanding::NonApproved => "none",
        PlanStanding::Beside => "beside",
        PlanStanding::Covered => "covers",
    };
    let web_read = match (facts.kind.as_str(), facts.reads_only) {
        ("web", true) => "yes",
        _ => "no",
    };
    let class = match ABOVE.contains(&(facts.ceiling.as_str(), facts.class.as_str())) {
        true => "above",
        false => "within",
    };
    [
        target,
        ruling,
        standing,
        facts.mode.as_str(),
        plan,
        web_read,
        class,
    ]
}

/// Number of the first row that fits.
fn row_of(facts: &Facts) -> usize {
    let found = columns(facts);
    let fits = |row: &[&str; 8]| {
        row.iter()
            .zip(found)
            .all(|(wanted, found)| *wanted == "*" || *wanted == found)
    };
    TABLE.iter().position(fits).unwrap()
}

fn told(verdict: Verdict) -> String {
    match verdict {
        Verdict::Allow => "allow".to_owned(),
        Verdict::Stage => "stage".to_owned(),
        Verdict::Refuse(code) => format!("refuse {code}"),
    }
}

/// Every input that there is.
fn all_facts() -> Vec<Facts> {
    let mut all = Vec::new();
    for mode in Mode::ALL {
        for kind in MutationKind::ALL {
            for class in Class::ALL {
                for ceiling in Ceiling::ALL {
                    for plan in [
                        PlanStanding::NonApproved,
                        PlanStanding::Beside,
                        PlanStanding::Covered,
                    ] {
                        for standing in [Standing::Unasked, Standing::Approved, Standing::Denied] {
                            for ruling in [Ruling::Silent, Ruling::Allow, Ruling::Deny] {
                                for target in [Target::Free, Target::Protected, Target::Outside] {
                                    all.extend([false, true].map(|reads_only| Facts {
                                        mode,
                                        kind,
                                        reads_only,
                                        class,
                                        ceiling,
                                        plan,
                                        standing,
                                        ruling,
                                        target,
                                    }));
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    all
}

#[test]
fn every_input_is_decided_as_the_table_says() {
    let all = all_facts();
    assert_eq!(all.len(), 3 * 6 * 3 * 4 * 3 * 3 * 3 * 3 * 2);
    let mut decided = vec![0; TABLE.len()];
    for facts in &all {
        let row = row_of(facts);
        assert_eq!(told(decide(facts).verdict), TABLE[row][7], "{facts:?}");
        decided[row] += 1;
    }
    // A row that decides nothing could be wrong unseen.
    assert!(!decided.contains(&0), "{decided:?}");
}

#[test]
fn nothing_lifts_protection_and_no_denial_is_passed_over() {
    for facts in all_facts() {
        let verdict = decide(&facts).verdict;
        if facts.target != Target::Free
            || facts.ruling == Ruling::Deny
            || facts.standing == Standing::Denied
        {
            assert!(matches!(verdict, Verdict::Refuse(_)), "{facts:?}");
        }
        // More trust in the mode never allows what a lower ceiling forbids.
        if verdict == Verdict::Allow && facts.standing == Standing::Unasked {
            assert!(facts.ceiling.lets(facts.class), "{facts:?}");
        }
        if verdict == Verdict::Allow && facts.mode == Mode::Plan {
            let by_plan = facts.plan != PlanStanding::NonApproved;
            let web = facts.kind == MutationKind::Web && facts.reads_only;
            let by_user = facts.standing == Standing::Approved;
            assert!(by_plan || web || by_user, "{facts:?}");
        }
    }
}

#[test]
fn a_lower_ceiling_only_takes_away() {
    for facts in all_facts() {
        for lower in Ceiling::ALL.into_iter().filter(|one| *one < facts.ceiling) {
            let narrowed = decide(&Facts {
                ceiling: lower,
                ..facts
            });
            if narrowed.verdict == Verdict::Allow {
                assert_eq!(decide(&facts).verdict, Verdict::Allow, "{facts:?} {lower}");
            }
        }
    }
}

#[test]
fn words_are_read_back_and_others_named() {
    for mode in Mode::ALL {
        assert_eq!(mode.to_string().parse(), Ok(mode));
    }
    for ceiling in Ceiling::ALL {
        assert_eq!(ceiling.to_string().parse(), Ok(ceiling));
    }
    let error = "Auto".parse::<Mode>().unwrap_err();
    assert_eq!(error.to_string(), "`Auto` is none of manual, plan, auto");
}
