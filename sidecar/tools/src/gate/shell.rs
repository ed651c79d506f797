//! Reads a shell script far enough to judge it: the simple commands in it, and whether that is all it does.
//!
//! ```text
//! script     = command { ("&&" | "||" | ";" | "&" | "|" | "|&" | newline) command }
//! command    = { NAME "=" word } { word | redirect }
//! word       = { plain | "\" any | "'" … "'" | '"' … '"' }
//! redirect   = [digits] (">" | ">>" | ">|" | "&>" | ">&" | "<" | "<<<" | …) word
//! ```
//!
//! Whatever is more than that (expansions, substitutions, groups, keywords, here documents, brace expansion)
//! is no error but a *doubt*: such a script is never let through by a rule. Reading goes on all the same, so that a
//! command that a rule forbids is found inside it too.
//!
//! **Invariant:** a script without doubt runs its `commands` with exactly these words, and nothing else.

/// What a script runs, as far as it can be told.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Script {
    /// The simple commands, those inside substitutions and groups too.
    pub commands: Vec<Simple>,
    /// Why it may do more, or something else, than run these.
    pub doubt: Option<&'static str>,
}

/// One simple command.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Simple {
    /// Variables set for it alone, or for all that follows when it has no words.
    pub assignments: Vec<(String, String)>,
    /// Program and arguments, without quotes.
    pub words: Vec<Word>,
    /// A file that it is made to write.
    pub writes: Option<String>,
}

/// One word after the removal of quotes.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// Its text.
    pub text: String,
    /// It has an unquoted wildcard: the shell puts file names in its place.
    pub is_pattern: bool,
}

/// Substitutions inside substitutions that are followed.
const DEPTH: usize = 16;

/// Reads a script. Cost: linear in its length.
pub(super) fn read(text: &str) -> Script {
    let mut reader = Reader {
        rest: text.chars().peekable(),
        script: Script::default(),
        here_documents: Vec::new(),
    };
    reader.commands(None, 0);
    reader.script
}

struct Reader<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
    script: Script,
    /// Delimiters of here documents whose text starts at the next line.
    here_documents: Vec<String>,
}

/// A command and a word that are being read.
#[derive(Default)]
struct Draft {
    command: Simple,
    word: Word,
    /// The word has begun, even when it is empty as `''` is.
    has_word: bool,
    /// Some of the word was quoted: then it is no assignment, keyword or number.
    is_quoted: bool,
    /// What the word in the making is for.
    role: Role,
}

#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Role {
    #[default]
    Word,
    /// The target of a redirection that writes.
    Written,
    /// The target of `>&`: a descriptor, or a file.
    Duplicated,
    /// The target of one that reads.
    Read,
    /// The end of a here document.
    Delimiter,
}

impl Reader<'_> {
    fn doubt(&mut self, why: &'static str) {
        self.script.doubt.get_or_insert(why);
    }

    /// Reads commands up to `end`, or to the end of the text.
    fn commands(&mut self, end: Option<char>, depth: usize) {
        let mut draft = Draft::default();
        while let Some(c) = self.rest.next() {
            if Some(c) == end {
                self.end_command(&mut draft);
                return;
            }
            match c {
                ' ' | '\t' => self.end_word(&mut draft),
                '\n' => {
                    self.end_command(&mut draft);
                    self.skip_here_documents();
                }
                ';' | '|' => {
                    if c == ';' && self.rest.next_if_eq(&';').is_some() {
                        self.doubt("it has a `case`");
                    }
                    self.rest.next_if(|next| *next == '|' || *next == '&');
                    self.end_command(&mut draft);
                }
                '&' if self.rest.next_if_eq(&'>').is_some() => {
                    self.rest.next_if_eq(&'>');
                    self.redirect(&mut draft, Role::Written);
                }
                '&' => {
                    self.rest.next_if_eq(&'&');
                    self.end_command(&mut draft);
                }
                '#' if !draft.has_word => {
                    while self.rest.next_if(|next| *next != '\n').is_some() {}
                }
                '>' | '<' => self.angle(c, &mut draft, depth),
                '(' | ')' => {
                    self.doubt("it has a group or a function");
                    self.end_command(&mut draft);
                }
                '`' => {
                    self.doubt("it has a command substitution");
                    self.inner(Some('`'), depth);
                    draft.has_word = true;
                }
                '$' => self.dollar(&mut draft, depth, false),
                '\'' => self.single_quoted(&mut draft),
                '"' => self.double_quoted(&mut draft, depth),
                '\\' => match self.rest.next() {
                    Some('\n') => {}
                    Some(next) => {
                        draft.push(next);
                        draft.is_quoted = true;
                    }
                    None => self.doubt("it ends in a backslash"),
                },
                '{' if draft.has_word || !self.is_blank_next() => {
                    self.doubt("it has a brace expansion");
                    draft.push(c);
                }
                '*' | '?' | '[' => {
                    draft.word.is_pattern = true;
                    draft.push(c);
                }
                '\0' => self.doubt("it has a NUL"),
                _ => draft.push(c),
            }
        }
        if end.is_some() {
            self.doubt("it has a substitution without an end");
        }
        self.end_command(&mut draft);
    }

    fn is_blank_next(&mut self) -> bool {
        self.rest
            .peek()
            .is_none_or(|next| matches!(next, ' ' | '\t' | '\n' | ';'))
    }

    /// Reads what a substitution runs.
    fn inner(&mut self, end: Option<char>, depth: usize) {
        if depth >= DEPTH {
            self.doubt("it has too many substitutions inside each other");
            self.rest = "".chars().peekable();
            return;
        }
        self.commands(end, depth + 1);
    }

    fn dollar(&mut self, draft: &mut Draft, depth: usize, is_in_quotes: bool) {
        match self.rest.peek() {
            Some('(') => {
                self.rest.next();
                self.doubt("it has a command substitution");
                self.inner(Some(')'), depth);
                draft.has_word = true;
            }
            Some('\'' | '"') if !is_in_quotes => {
                self.doubt("it has a `$'…'` or `$\"…\"` string");
                draft.has_word = true;
            }
            Some(next)
                if next.is_alphanumeric()
                    || matches!(
                        next,
                        '_' | '{' | '[' | '*' | '@' | '#' | '?' | '-' | '$' | '!'
                    ) =>
            {
                self.doubt("it has an expansion");
                draft.push('$');
            }
            _ => draft.push('$'),
        }
    }

    fn single_quoted(&mut self, draft: &mut Draft) {
        draft.has_word = true;
        draft.is_quoted = true;
        loop {
            match self.rest.next() {
                Some('\'') => return,
                Some(c) => draft.word.text.push(c),
                None => return self.doubt("it has a quote without an end"),
            }
        }
    }

    fn double_quoted(&mut self, draft: &mut Draft, depth: usize) {
        draft.has_word = true;
        draft.is_quoted = true;
        loop {
            match self.rest.next() {
                Some('"') => return,
                Some('$') => self.dollar(draft, depth, true),
                Some('`') => {
                    self.doubt("it has a command substitution");
                    self.inner(Some('`'), depth);
                }
                Some('\\') => match self.rest.next() {
                    Some('\n') => {}
                    Some(c @ ('$' | '`' | '"' | '\\')) => draft.word.text.push(c),
                    Some(c) => draft.word.text.extend(['\\', c]),
                    None => return self.doubt("it has a quote without an end"),
                },
                Some(c) => draft.word.text.push(c),
                None => return self.doubt("it has a quote without an end"),
            }
        }
    }

    fn angle(&mut self, c: char, draft: &mut Draft, depth: usize) {
        // `2>`: the digits are a descriptor, not a word.
        let is_descriptor = draft.has_word
            && !draft.is_quoted
            && draft.word.text.chars().all(|c| c.is_ascii_digit());
        if is_descriptor && draft.role == Role::Word {
            draft.word = Word::default();
            draft.has_word = false;
        }
        let next = self
            .rest
            .next_if(|next| matches!(next, '>' | '<' | '|' | '&' | '('));
        let role = match (c, next) {
            (_, Some('(')) => {
                self.doubt("it has a process substitution");
                self.end_word(draft);
                self.inner(Some(')'), depth);
                return;
            }
            ('>', Some('&')) => Role::Duplicated,
            ('>', Some('<')) => {
                self.doubt("it has a redirection that is not understood");
                Role::Written
            }
            ('>', _) | ('<', Some('>')) => Role::Written,
            (_, Some('<')) if self.rest.next_if_eq(&'<').is_some() => Role::Read,
            (_, Some('<')) => {
                self.rest.next_if_eq(&'-');
                self.doubt("it has a here document");
                Role::Delimiter
            }
            (_, Some('|')) => {
                self.doubt("it has a redirection that is not understood");
                Role::Read
            }
            _ => Role::Read,
        };
        self.redirect(draft, role);
    }

    fn redirect(&mut self, draft: &mut Draft, role: Role) {
        self.end_word(draft);
        if draft.role != Role::Word {
            self.doubt("it has a redirection without a target");
        }
        draft.role = role;
    }

    fn end_word(&mut self, draft: &mut Draft) {
        if !std::mem::take(&mut draft.has_word) {
            return;
        }
        let word = std::mem::take(&mut draft.word);
        let is_quoted = std::mem::take(&mut draft.is_quoted);
        let command = &mut draft.command;
        match std::mem::take(&mut draft.role) {
            Role::Word => {
                if command.words.is_empty() {
                    if !is_quoted && KEYWORDS.contains(&word.text.as_str()) {
                        return self.doubt("it has a keyword of the shell");
                    }
                    // With its name quoted it would be a program of that odd name: no rule allows either.
                    if let Some((name, value)) = assignment(&word.text) {
                        command
                            .assignments
                            .push((name.to_owned(), value.to_owned()));
                        return;
                    }
                }
                command.words.push(word);
            }
            Role::Written if word.text == "/dev/null" => {}
            Role::Duplicated
                if word.text == "-" || word.text.chars().all(|c| c.is_ascii_digit()) => {}
            Role::Written | Role::Duplicated => command.writes = Some(word.text),
            Role::Read => {}
            Role::Delimiter => self.here_documents.push(word.text),
        }
    }

    fn end_command(&mut self, draft: &mut Draft) {
        self.end_word(draft);
        if draft.role != Role::Word {
            self.doubt("it has a redirection without a target");
        }
        let command = std::mem::take(draft).command;
        if command != Simple::default() {
            self.script.commands.push(command);
        }
    }

    /// Passes over the text of here documents: it is data, and what it expands is in doubt already.
    fn skip_here_documents(&mut self) {
        for delimiter in std::mem::take(&mut self.here_documents) {
            loop {
                let mut line = String::new();
                let mut is_last = true;
                for c in self.rest.by_ref() {
                    if c == '\n' {
                        is_last = false;
                        break;
                    }
                    line.push(c);
                }
                if is_last || line.trim_start_matches('\t') == delimiter {
                    break;
                }
            }
        }
    }
}

impl Draft {
    fn push(&mut self, c: char) {
        self.word.text.push(c);
        self.has_word = true;
    }
}

/// Words that mean something else than a program where one is expected.
const KEYWORDS: &[&str] = &[
    "!", "{", "}", "if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done",
    "case", "esac", "in", "function", "select", "coproc", "time", "[[", "]]",
];

/// `NAME=value` or `NAME+=value`.
fn assignment(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let name = name.strip_suffix('+').unwrap_or(name);
    let mut chars = name.chars();
    let first = chars.next()?;
    let is_name = (first.is_ascii_alphabetic() || first == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_name.then_some((name, value))
}

#[cfg(test)]
mod tests;
