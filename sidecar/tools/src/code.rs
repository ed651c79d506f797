//! The error codes: one enum for everything that can go wrong, with what it means and what to do.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

macro_rules! codes {
    ($($(#[$meta:meta])* $name:ident = $text:literal, $meaning:literal, $hint:literal;)*) => {
        /// A code that every layer, client and model shares. The texts never change once released.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum ErrorCode {
            $(#[doc = $meaning] $name,)*
        }

        impl ErrorCode {
            /// All codes, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// The code as it is written: `AMBIGUOUS_MATCH`.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// What it means, in one line.
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$name => $meaning,)* }
            }

            /// What to do about it, in one line.
            pub fn hint(self) -> &'static str {
                match self { $(Self::$name => $hint,)* }
            }
        }

        impl FromStr for ErrorCode {
            type Err = UnknownCode;

            fn from_str(text: &str) -> Result<Self, UnknownCode> {
                match text {
                    $($text => Ok(Self::$name),)*
                    _ => Err(UnknownCode),
                }
            }
        }
    };
}

/// A text that is no error code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an error code")]
pub struct UnknownCode;

codes! {
    AmbiguousMatch = "AMBIGUOUS_MATCH", "The text to find is at several places.", "Repeat the edit with more of the lines around the place, so that it is at one place only.";
    NoMatch = "NO_MATCH", "The text to find is not in the file.", "Read the file again and copy the lines exactly as they stand there.";
    MalformedProposal = "MALFORMED_PROPOSAL", "The proposal does not follow its format.", "Write the edit again; the message names the line.";
    Placeholder = "PLACEHOLDER", "The new text holds a comment in place of code.", "Write out every line; what is left out would be deleted.";
    Incomplete = "INCOMPLETE", "The input ends before its end.", "Send it again, whole; split a long edit into several calls.";
    OverlappingEdits = "OVERLAPPING_EDITS", "Two edits of one proposal change the same lines.", "Join them into one edit.";
    InvalidPosition = "INVALID_POSITION", "A position lies inside a character, or a range is reversed.", "Count positions in the encoding that was agreed on.";
    OutOfRange = "OUT_OF_RANGE", "A position or line is beyond the end of the text.", "Read the file again: it is shorter than assumed.";
    StaleVersion = "STALE_VERSION", "The document has changed since the edit was made for it.", "Read it again and repeat the edit on today's text.";
    StaleHunk = "STALE_HUNK", "The hunk has changed since it was shown.", "Look at it again and decide on its present revision.";
    Encoding = "ENCODING", "The file is not UTF-8.", "Leave it alone, or ask the user to convert it.";
    NotText = "NOT_TEXT", "The content is binary, not text.", "Only text can be read and edited here.";
    TooLarge = "TOO_LARGE", "It is larger than the limit.", "Work on a smaller part: a line range, a narrower search, several calls.";
    NotFound = "NOT_FOUND", "There is no such file.", "List the folder or search for the name; paths start at the workspace root.";
    Exists = "EXISTS", "There is something at that path already.", "Edit what is there, or choose another path.";
    IsDirectory = "IS_DIRECTORY", "The path is a folder.", "Name a file in it; `workspace_list` shows them.";
    NotDirectory = "NOT_DIRECTORY", "A part of the path is a file, not a folder.", "List the folder above it to see what is there.";
    IsSymlink = "IS_SYMLINK", "The path is a symbolic link.", "Name the file that it points to.";
    SymlinkRejected = "SYMLINK_REJECTED", "A part of the path is a symbolic link, through which nothing is written.", "Use the real path, without links.";
    SymlinkLoop = "SYMLINK_LOOP", "Symbolic links lead in a circle.", "Use the real path, without links.";
    HardLinked = "HARD_LINKED", "The file has several names; replacing it would separate them.", "Ask the user how this file is to be changed.";
    ReadOnly = "READ_ONLY", "The file or its folder cannot be written.", "Ask the user to make it writable.";
    OutsideWorkspace = "OUTSIDE_WORKSPACE", "The path leaves the workspace.", "Use a path below the workspace root, like src/main.rs.";
    BadPath = "BAD_PATH", "The path is not a usable path.", "Use a relative path with `/`, without empty parts, `..` or control characters.";
    ProtectedPath = "PROTECTED_PATH", "The path is protected against changes; no approval lifts that.", "Leave it as it is, and tell the user what you would have changed.";
    NameCollision = "NAME_COLLISION", "Two paths differ only in case or Unicode form, and would be one file on some systems.", "Use the spelling that is there already.";
    DirtyBuffer = "DIRTY_BUFFER", "An editor holds unsaved changes of this file.", "Save or close it in that editor, then try again.";
    Io = "IO", "The operating system refused.", "The message says what; try again once its cause is gone.";
    Conflict = "CONFLICT", "The lines have changed since the edit was written against them.", "Read the file again and repeat the edit on today's lines.";
    AlreadyApplied = "ALREADY_APPLIED", "The change is in the file already.", "Nothing is left to do; read the file to see it.";
    AlreadySettled = "ALREADY_SETTLED", "This was decided before.", "Look at the present state; a new change needs a new proposal.";
    NothingPending = "NOTHING_PENDING", "Nothing waits for a decision there.", "`redline status` lists what is pending.";
    SeveralTransactions = "SEVERAL_TRANSACTIONS", "Several transactions are pending; it is not clear which is meant.", "Name one of the listed ids.";
    UnknownTransaction = "UNKNOWN_TRANSACTION", "There is no transaction of that id.", "`redline status` lists the ids.";
    UnknownHunk = "UNKNOWN_HUNK", "There is no hunk of that id.", "`redline show` lists the hunks with their ids.";
    UnknownJob = "UNKNOWN_JOB", "There is no job of that id.", "List the jobs to see their ids.";
    TooManyJobs = "TOO_MANY_JOBS", "As many jobs run as may at one time.", "Cancel one that is not needed, or wait for its end.";
    ClientRefused = "CLIENT_REFUSED", "The editor did not apply the edit.", "It stays pending; try again in the editor.";
    ClientTimeout = "CLIENT_TIMEOUT", "The editor did not apply the edit in time.", "It stays pending; try again once the editor answers.";
    ClientGone = "CLIENT_GONE", "The editor went away.", "It stays pending; open the file again to review it.";
    VerifyFailed = "VERIFY_FAILED", "What was written does not read back as it should.", "It was taken back; look at the disk before you try again.";
    Unsupported = "UNSUPPORTED", "This is not supported here.", "The message says what is; use that instead.";
    StoreUnsealed = "STORE_UNSEALED", "The `.agentic` folder was not made here and is not trusted.", "Look at it, then trust it or remove it.";
    StoreCorrupt = "STORE_CORRUPT", "A stored file cannot be read.", "It was set aside as *.corrupt; the rest works on.";
    Busy = "BUSY", "The conversation has a turn that runs.", "Wait for its end, or cancel it.";
    NotAllowed = "NOT_ALLOWED", "This is not yours to do here.", "Ask the user to do it, if it is needed.";
    ApprovalRequired = "APPROVAL_REQUIRED", "This needs the user's approval first.", "Wait for the decision; do not try another way around it.";
    ApprovalDenied = "APPROVAL_DENIED", "The user, or a rule of theirs, does not allow this.", "Do not try it again in this turn; go on without it or ask.";
    ApprovalStale = "APPROVAL_STALE", "What was approved has changed since it was shown.", "Ask for it again as it is now, with the same call.";
    InvalidArguments = "INVALID_ARGUMENTS", "The arguments do not fit the tool.", "Call it again with arguments as its schema says.";
    Provider = "PROVIDER", "The model's provider failed.", "The message says how; ask again when it works.";
    Cancelled = "CANCELLED", "It was stopped before it ended.", "Ask again to go on.";
    Interrupted = "INTERRUPTED", "The sidecar ended while it ran.", "Ask to go on: what was said and proposed before is kept.";
    Timeout = "TIMEOUT", "It took too long.", "Try a smaller piece of work, or give it more time.";
    Internal = "INTERNAL", "A fault of Redline itself.", "Please report it with the local log; nothing was changed.";
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for ErrorCode {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for ErrorCode {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        text.parse().map_err(|_| {
            serde::de::Error::invalid_value(serde::de::Unexpected::Str(&text), &"an error code")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_its_own_text_and_one_line_to_act_on() {
        let mut seen = std::collections::HashSet::new();
        for code in ErrorCode::ALL {
            assert!(seen.insert(code.as_str()), "{code} twice");
            assert_eq!(code.as_str().parse(), Ok(*code));
            for line in [code.meaning(), code.hint()] {
                assert!(
                    line.ends_with('.') && !line.contains('\n'),
                    "{code}: {line}"
                );
            }
        }
        assert_eq!("ambiguous_match".parse::<ErrorCode>(), Err(UnknownCode));
    }
}
