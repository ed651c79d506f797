//! Starting a process that outlives its starter and shares nothing with it.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

use super::inherit::leave_files_behind;

/// A process in a session of its own, without our terminal, stdio or open files.
#[derive(Debug)]
pub struct Detached {
    child: Child,
}

impl Detached {
    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// How it ended, when it has: a process that cannot start for long tells so here.
    ///
    /// # Errors
    ///
    /// The system's refusal.
    pub fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        self.child.try_wait()
    }
}

/// Starts `program` with `arguments` in `folder`, in an env of exactly `env`.
///
/// The new process leads a session of its own, so no hang-up reaches it; its stdio is `/dev/null`, so no
/// pipe of an editor stays open because of it; and it gets none of our open files, so no socket or lock
/// lives on in it.
///
/// # Errors
///
/// The system's refusal, a program that cannot be run included.
pub fn spawn_detached(
    program: &Path,
    arguments: &[OsString],
    env: &[(OsString, OsString)],
    folder: &Path,
) -> io::Result<Detached> {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .envs(env.iter().map(|(name, value)| (name, value)))
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    #[expect(
        unsafe_code,
        reason = "the standard library has no safe way to run code between fork and exec"
    )]
    // SAFETY: the closure makes system calls only: it allocates nothing, takes no lock and touches no memory
    // of other threads, as the child of a threaded process must until exec.
    unsafe {
        command.pre_exec(|| {
            rustix::process::setsid()?;
            leave_files_behind();
            Ok(())
        });
    }
    Ok(Detached {
        child: command.spawn()?,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use std::os::fd::AsFd;

    use super::*;

    fn wait(mut child: Detached) -> ExitStatus {
        child.child.wait().unwrap()
    }

    #[test]
    fn nothing_is_inherited() {
        let temp = tempfile::tempdir().unwrap();
        // A file that would be inherited, as an editor's pipe is.
        let leak = std::fs::File::create(temp.path().join("leak")).unwrap();
        rustix::io::fcntl_setfd(leak.as_fd(), rustix::io::FdFlags::empty()).unwrap();
        let script = "ls -l /proc/self/fd > fds; ps -o sid=,pid= -p $$ > ids; env > env; cat > in";
        let env = [
            ("PATH".into(), "/usr/bin:/bin".into()),
            ("ONLY".into(), "this".into()),
        ];
        let child = spawn_detached(
            Path::new("/bin/sh"),
            &["-c".into(), script.into()],
            &env,
            temp.path(),
        )
        .unwrap();
        assert!(wait(child).success());
        let read = |name: &str| std::fs::read_to_string(temp.path().join(name)).unwrap();
        assert!(!read("fds").contains("leak"), "{}", read("fds"));
        assert_eq!(
            read("fds").matches("/dev/null").count(),
            2,
            "stdin and stderr; stdout is the file: {}",
            read("fds")
        );
        assert_eq!(read("in"), "");
        assert!(read("env").contains("ONLY=this") && !read("env").contains("CARGO"));
        let ids = read("ids");
        let mut ids = ids.split_whitespace();
        assert_eq!(ids.next(), ids.next(), "it leads its session");
    }

    #[test]
    fn a_program_that_is_not_there_is_told() {
        let error =
            spawn_detached(Path::new("/no/such/program"), &[], &[], Path::new("/")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
