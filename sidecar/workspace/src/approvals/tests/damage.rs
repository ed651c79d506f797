//! Files that no sidecar of this user's wrote, or not like this.

use super::*;
use crate::store::SealKey;

const FILE: &str = ".agentic/approvals/state.json";

fn approved(scratch: &Scratch) -> Approvals {
    let approvals = approvals(scratch);
    approvals.ask(new("1", "op")).unwrap();
    approvals
        .decide("approval_1", Voice::Yes, "ann", None)
        .unwrap();
    approvals
}

/// Checks that nothing of the file counts, that it is set aside and named, and that work goes on.
fn refused(scratch: &Scratch, approvals: &Approvals, reason: &str) {
    assert_eq!(
        approvals.standing("op", "turn_1").unwrap(),
        OperationStanding::Unasked
    );
    assert!(approvals.claim("approval_1", "op").is_err());
    let damage = approvals.take_damage();
    assert_eq!(damage.len(), 1, "{damage:?}");
    assert!(damage[0].reason.contains(reason), "{damage:?}");
    assert_eq!(damage[0].path, FILE);
    assert!(damage[0].aside.contains("state.json.corrupt"));
    assert!(scratch.on_disk(&damage[0].aside).exists());
    approvals.ask(new("2", "op")).unwrap();
    assert_eq!(self::approvals(scratch).list().unwrap().len(), 1);
}

#[test]
fn an_edited_state_approves_nothing() {
    let scratch = Scratch::new(&[]);
    let approvals = approvals(&scratch);
    approvals.ask(new("1", "op")).unwrap();
    let text = std::fs::read_to_string(scratch.on_disk(FILE)).unwrap();
    let edited = text.replace("\"state\":\"waiting\"", "\"state\":\"approved\"");
    assert_ne!(text, edited);
    scratch.write(FILE, &edited);
    refused(&scratch, &approvals, "seal");
}

#[test]
fn a_state_by_another_key_approves_nothing() {
    let scratch = Scratch::new(&[]);
    approved(&scratch);
    let ours = Scratch::new(&[]);
    let forged = Store::new(ours.root.clone(), SealKey::new([9; 32]));
    let clock: Arc<dyn Clock> = Arc::new(|| 0);
    let forger = Approvals::new(
        forged.clone(),
        Journal::new(forged, clock.clone(), JournalOptions::default()),
        clock,
    );
    forger.ask(new("1", "op")).unwrap();
    forger
        .decide("approval_1", Voice::Yes, "mallory", None)
        .unwrap();
    let text = std::fs::read_to_string(ours.on_disk(FILE)).unwrap();
    scratch.write(FILE, &text);
    refused(&scratch, &approvals(&scratch), "seal");
}

#[test]
fn an_older_state_put_back_approves_nothing() {
    let scratch = Scratch::new(&[]);
    let approvals = approved(&scratch);
    let before = std::fs::read_to_string(scratch.on_disk(FILE)).unwrap();
    approvals.claim("approval_1", "op").unwrap();
    approvals.settle("approval_1", true).unwrap();
    scratch.write(FILE, &before);
    refused(&scratch, &approvals, "older");
}

#[test]
fn rubbish_is_set_aside() {
    for rubbish in [
        "",
        "{",
        "[]",
        "null",
        "{\"seal\":\"\",\"record\":{}}",
        "\0\u{1}",
        "{\"seal\":1,\"record\":{}}",
    ] {
        let scratch = Scratch::new(&[]);
        let approvals = approved(&scratch);
        scratch.write(FILE, rubbish);
        assert!(approvals.list().unwrap().is_empty(), "{rubbish:?}");
        assert_eq!(approvals.take_damage().len(), 1, "{rubbish:?}");
        assert!(!scratch.on_disk(FILE).exists());
    }
}

#[test]
fn a_removed_state_approves_nothing() {
    let scratch = Scratch::new(&[]);
    let approvals = approved(&scratch);
    std::fs::remove_file(scratch.on_disk(FILE)).unwrap();
    assert_eq!(
        approvals.standing("op", "turn_1").unwrap(),
        OperationStanding::Unasked
    );
    assert!(approvals.take_damage().is_empty());
}

#[test]
fn an_older_state_put_back_is_noticed_by_the_next_process() {
    let scratch = Scratch::new(&[]);
    let home = tempfile::tempdir().unwrap();
    let private = || crate::private::PrivateStore::new(home.path().join("redline"));
    let first = approved(&scratch);
    first.remember_in(private(), "redline", "ws_1");
    let unused = std::fs::read(scratch.on_disk(FILE)).unwrap();
    first.claim("approval_1", "op").unwrap();
    first.settle("approval_1", true).unwrap();
    drop(first);
    // Sealed by this user, and of yesterday.
    std::fs::write(scratch.on_disk(FILE), unused).unwrap();

    let next = approvals(&scratch);
    next.remember_in(private(), "redline", "ws_1");
    assert_eq!(
        next.standing("op", "turn_1").unwrap(),
        OperationStanding::Unasked
    );
    let [damage] = next.take_damage().try_into().unwrap();
    assert!(damage.reason.contains("older state"), "{damage:?}");
    assert!(next.claim("approval_1", "op").is_err());
    // It goes on from there, and the one after it takes that for the last.
    next.ask(new("2", "op")).unwrap();
    let last = approvals(&scratch);
    last.remember_in(private(), "redline", "ws_1");
    assert_eq!(last.waiting().unwrap().len(), 1);
    assert!(last.take_damage().is_empty());
}

#[test]
fn a_link_in_its_place_is_refused() {
    let scratch = Scratch::new(&[("elsewhere.json", "{}")]);
    let approvals = approved(&scratch);
    std::fs::remove_file(scratch.on_disk(FILE)).unwrap();
    std::os::unix::fs::symlink(scratch.on_disk("elsewhere.json"), scratch.on_disk(FILE)).unwrap();
    assert_eq!(approvals.list().unwrap_err().code(), "SYMLINK_REJECTED");
}

#[test]
fn an_unsealed_store_approves_nothing() {
    let scratch = Scratch::new(&[]);
    approved(&scratch);
    // As it would look to somebody who got it with a clone.
    let other = Store::new(scratch.root.clone(), SealKey::new([9; 32]));
    let clock: Arc<dyn Clock> = Arc::new(|| 0);
    let journal = Journal::new(other.clone(), clock.clone(), JournalOptions::default());
    let approvals = Approvals::new(other, journal, clock);
    for error in [
        approvals.list().unwrap_err(),
        approvals.standing("op", "turn_1").unwrap_err(),
        approvals.claim("approval_1", "op").unwrap_err(),
        approvals
            .decide("approval_1", Voice::Yes, "mallory", None)
            .unwrap_err(),
        approvals.ask(new("2", "op")).unwrap_err(),
    ] {
        assert_eq!(error.code(), "STORE_UNSEALED");
    }
}

#[test]
fn a_failed_write_leaves_what_was_there() {
    use crate::effect::Effect;
    let scratch = Scratch::new(&[]);
    let approvals = approved(&scratch);
    for effect in [Effect::Write, Effect::Fsync, Effect::Rename] {
        scratch
            .faults
            .fail(effect, FILE, 1, rustix::io::Errno::NOSPC.raw_os_error());
        let error = approvals.claim("approval_1", "op").unwrap_err();
        assert_eq!(error.code(), "IO", "{effect:?}");
        assert_eq!(
            approvals.standing("op", "turn_1").unwrap(),
            OperationStanding::Approved("approval_1".into())
        );
    }
    approvals.claim("approval_1", "op").unwrap();
}
