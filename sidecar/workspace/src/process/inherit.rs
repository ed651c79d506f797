//! What a child gets of our open files: nothing.

/// How many open files are looked at where the system cannot do it in one call.
const MOST_FILES: i32 = 65_536;

/// Marks every open file but stdio to be closed by exec. To be called between fork and exec.
///
/// Marked, not closed at once: the standard library's own pipe must live until exec, to tell why it failed.
/// It makes system calls only: it allocates nothing and takes no lock, as the child of a threaded process must.
pub(crate) fn leave_files_behind() {
    // Safety for the calls below: they set a flag on numbers of open files, and touch no memory; a number
    // that names none fails and does nothing else.
    #[cfg(target_os = "linux")]
    {
        #[expect(unsafe_code, reason = "no safe wrapper of this call is at hand")]
        // SAFETY: see above.
        let marked = unsafe {
            libc::syscall(
                libc::SYS_close_range,
                3u32,
                u32::MAX,
                libc::CLOSE_RANGE_CLOEXEC,
            )
        };
        if marked == 0 {
            return;
        }
    }
    // An older kernel, or another system: one by one, as far as a process usually has any.
    for number in 3..MOST_FILES {
        #[expect(unsafe_code, reason = "the number may name no open file")]
        // SAFETY: see above.
        unsafe {
            libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC);
        }
    }
}
