//! The sidecar's socket, lock and end.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use super::*;
use crate::{
    connect::{self, Attempt, Link, Sharing},
    wire::{FrameSource, call, write_frame},
};
use serde_json::{Value, json};
use std::{path::Path, thread};

fn paths(base: &Path) -> Paths {
    Paths {
        config_dir: base.join("config"),
        state_dir: base.join("state"),
        runtime_dir: base.join("run"),
        home: None,
    }
}

/// A sidecar in this process, and a connection to it.
fn served(paths: &Paths, idle: Duration) -> (thread::JoinHandle<Result<Ran, Failure>>, Link) {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let sidecar = thread::spawn({
            let paths = paths.clone();
            move || run(&paths, idle)
        });
        // On a busy machine it may be over before it has met its first client; then there is another.
        while !sidecar.is_finished() {
            match connect::attempt(paths) {
                Ok(Attempt::Link(link)) => return (sidecar, link),
                other => assert!(Instant::now() < deadline, "{other:?}"),
            }
            thread::yield_now();
        }
        assert_eq!(sidecar.join().unwrap(), Ok(Ran::Here));
    }
}

fn status(link: &Link, root: &Path) -> Value {
    let mut frames = FrameSource::new(link.stream.try_clone().unwrap());
    let mut ask = |id: u64, method: &str, params: Value| {
        let body = call(Some(id), method, &params).unwrap();
        write_frame(&mut &*link.stream, &body).unwrap();
        loop {
            let body = frames.next_frame().unwrap().expect("an answer").unwrap();
            let answer: Value = serde_json::from_slice(&body).unwrap();
            if answer["id"] == id {
                return answer;
            }
        }
    };
    let uri = format!("file://{}", root.display());
    ask(1, "initialize", json!({"rootUri": uri, "capabilities": {}}));
    let body = call(None, "initialized", &json!({})).unwrap();
    write_frame(&mut &*link.stream, &body).unwrap();
    ask(2, "redline/status", json!({}))["result"].clone()
}

#[test]
fn serves_until_nobody_needs_it_and_leaves_no_socket() {
    let base = tempfile::tempdir().unwrap();
    let paths = paths(base.path());
    let (sidecar, link) = served(&paths, Duration::from_millis(200));
    let answer = status(&link, base.path());
    assert_eq!(answer["inProcess"], false, "{answer}");
    link.close();
    assert_eq!(sidecar.join().unwrap(), Ok(Ran::Here));
    assert!(!paths.socket().exists());
    assert!(
        paths.lock().exists(),
        "a lock file that is deleted locks nothing"
    );
}

#[test]
fn a_second_one_leaves_the_first_alone() {
    let base = tempfile::tempdir().unwrap();
    let paths = paths(base.path());
    let (first, link) = served(&paths, Duration::from_millis(500));
    let second = run(&paths, Duration::from_millis(1));
    assert_eq!(second, Ok(Ran::Elsewhere(Some(std::process::id()))));
    assert_eq!(running(&paths), Some(std::process::id()));
    // The first still serves.
    assert_eq!(status(&link, base.path())["inProcess"], false);
    link.close();
    first.join().unwrap().unwrap();
    assert_eq!(running(&paths), None);
}

#[test]
fn a_plain_client_needs_no_greeting_and_noise_is_hung_up_on() {
    let base = tempfile::tempdir().unwrap();
    let paths = paths(base.path());
    let (sidecar, link) = served(&paths, Duration::from_millis(500));
    let open = || std::os::unix::net::UnixStream::connect(paths.socket()).unwrap();
    let plain = Link::new(open(), connect::ServedBy::InProcess);
    assert_eq!(status(&plain, base.path())["inProcess"], false);
    for noise in [
        &b"GET / HTTP/1.1\r\n\r\n"[..],
        b"Content-Length: 99999999999\r\n\r\n",
        b"",
    ] {
        let mut stream = open();
        stream.write_all(noise).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut said = Vec::new();
        // It hangs up; a reset says so too.
        let _ = io::Read::read_to_end(&mut stream, &mut said);
    }
    assert_eq!(status(&link, base.path())["inProcess"], false);
    plain.close();
    link.close();
    sidecar.join().unwrap().unwrap();
}

#[test]
fn the_same_is_served_in_process() {
    let base = tempfile::tempdir().unwrap();
    let link = connect::open(&paths(base.path()), Sharing::InProcess).unwrap();
    assert_eq!(status(&link, base.path())["inProcess"], true);
    link.close();
}

#[test]
fn a_start_that_failed_leaves_word() {
    let base = tempfile::tempdir().unwrap();
    let paths = paths(base.path());
    private_folder(&paths.runtime_dir).unwrap();
    assert_eq!(trouble(&paths), None);
    leave_trouble(&paths, &Failure::new("IO", "no room", ""));
    assert_eq!(trouble(&paths).as_deref(), Some("IO: no room"));
    forget_trouble(&paths);
    assert_eq!(trouble(&paths), None);
}
