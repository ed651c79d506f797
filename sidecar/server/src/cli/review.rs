//! `redline review`: what is pending, hunk by hunk, in the way of `git add -p`.
//!
//! Owns: the dialogue. Decisions are collected and carried out together, one acceptance and one
//! rejection for each transaction, when the walk ends or the reviewer quits; an edit or a split is
//! carried out at once, and so is proposing a conflict again. Ctrl-C leaves what was not carried out as it
//! is. Must not know: whether a decision holds; what moved meanwhile is refused by the hub, and walked
//! again.

mod editor;
mod walk;

use super::{
    Context,
    client::Client,
    decide::{self, Verb},
    interrupt::on_interrupt,
    render::{Extent, Renderer, total},
    shapes,
    show::{get, status_of},
    terminal::{Style, Terminal, wrap},
};
use crate::failure::{Failure, exit};
use redline_protocol::v1::{
    AmendParams, DecideParams, DecideResult, FileRef, HunkRef, ReproposeParams, SplitParams,
    Transaction, method,
};
use serde_json::json;
use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};
use walk::{Choice, Item, Walk};

const HELP: &str = "\
y - accept this hunk
n - reject this hunk
s - split it into smaller hunks
e - edit the proposed lines, then decide
a - accept this hunk and all later ones of this file
d - reject this hunk and all later ones of this file
A - accept all that is undecided in this transaction
D - reject all that is undecided in this transaction
j - leave it undecided, see the next undecided one
k - see the one before
p - print the whole hunk again
q - quit; what was decided so far is carried out, the rest stays pending
    (Ctrl-D does the same; Ctrl-C quits and carries out nothing)
? - print this help
";

const HELP_FILE: &str = "\
y - accept it
n - reject it
a, d, A, D, j, k, p, q, ? - as for hunks: accept or reject the rest of the
    file or of the transaction, go on, go back, print it whole, quit, help
";

const HELP_CONFLICT: &str = "\
r - propose again: on the lines that stand there now
w - keep mine: withdraw the hunk
t - show the three sides, whole
n - reject this hunk
d - reject this hunk and all later ones of this file
D - reject all that is undecided in this transaction
j, k, q, ? - go on, go back, quit, help
";

const HELP_FILE_CONFLICT: &str = "\
w - keep mine: withdraw it
n - reject it
d, D, j, k, p, q, ? - as for hunks
";

/// What can be done about a conflict, under its sides.
const CONFLICT_CHOICES: &str = "r propose again · w keep mine · t show the three sides";

/// Changes one hunk of a transaction; gives the transaction after it, unless nothing changed.
type Change<R> = fn(&mut R, &Transaction, HunkRef, Item) -> Result<Option<Transaction>, Failure>;

/// How the walk through one transaction ended.
enum End {
    Done,
    Quit,
}

pub(crate) fn run(context: &mut Context<'_>, transaction: Option<String>) -> Result<i32, Failure> {
    let root = context.root()?;
    let client = context.client()?;
    let renderer = context.renderer();
    let editing = Arc::new(AtomicBool::new(false));
    leave_on_interrupt(context.terminal.json, Arc::clone(&editing))?;
    let surroundings = Surroundings { root, editing };
    review(
        context.terminal,
        renderer,
        client,
        surroundings,
        transaction,
    )
}

/// Where the review takes place.
struct Surroundings {
    root: PathBuf,
    /// The reviewer's editor has the terminal, and Ctrl-C is meant for it.
    editing: Arc<AtomicBool>,
}

/// Ends the review at Ctrl-C; what was decided and not carried out stays pending.
fn leave_on_interrupt(json: bool, editing: Arc<AtomicBool>) -> Result<(), Failure> {
    on_interrupt(move || {
        if editing.load(Ordering::SeqCst) {
            return;
        }
        let failure = Failure::new(
            "CANCELLED",
            "the review was left; what was not carried out stays pending",
            "`redline review` goes on with it",
        );
        let mut terminal = Terminal::of_process(json, super::When::Auto);
        terminal.aside("");
        super::report(&failure, &mut terminal);
        std::process::exit(exit::CANCELLED);
    })
}

fn review(
    terminal: &mut Terminal,
    renderer: Renderer,
    mut client: Client,
    surroundings: Surroundings,
    transaction: Option<String>,
) -> Result<i32, Failure> {
    let mut review = Review {
        terminal,
        client: &mut client,
        renderer,
        decided: Vec::new(),
        conflict: false,
        surroundings,
    };
    let reviewed = review.all(transaction.as_deref());
    let (decided, conflict) = (std::mem::take(&mut review.decided), review.conflict);
    client.close();
    reviewed?;
    if terminal.json {
        let decided: Vec<_> = decided
            .iter()
            .map(|result| shapes::Decided {
                transaction: (&result.transaction).into(),
                receipt: result.receipt.as_ref().map(Into::into),
            })
            .collect();
        terminal.object(&json!({ "decided": decided }));
    }
    Ok(if conflict { exit::CONFLICT } else { exit::DONE })
}

struct Review<'a> {
    terminal: &'a mut Terminal,
    client: &'a mut Client,
    renderer: Renderer,
    decided: Vec<DecideResult>,
    /// A decision could not be carried out, and was left.
    conflict: bool,
    surroundings: Surroundings,
}

impl Review<'_> {
    fn all(&mut self, transaction: Option<&str>) -> Result<(), Failure> {
        let transactions = match transaction {
            Some(id) => vec![get(self.client, id)?],
            None => status_of(self.client)?.transactions,
        };
        let mut any = false;
        for transaction in transactions {
            if Walk::new(&transaction).is_empty() {
                continue;
            }
            any = true;
            if let End::Quit = self.one(transaction)? {
                break;
            }
        }
        if !any {
            self.say("nothing waits for a decision\n");
        }
        Ok(())
    }

    fn one(&mut self, mut transaction: Transaction) -> Result<End, Failure> {
        let heading = self.renderer.heading(&transaction);
        self.say(&format!("{heading}\n"));
        loop {
            let mut walk = Walk::new(&transaction);
            let end = self.walk(&mut transaction, &mut walk)?;
            match self.carry_out(&transaction, &walk) {
                Ok(()) => return Ok(end),
                // Something moved under the reviewer: what is left is shown as it is now.
                Err(failure) if matches!(failure.code.as_str(), "STALE_HUNK" | "CONFLICT") => {
                    let text = format!("! {failure}");
                    self.warn(&text);
                    transaction = get(self.client, &transaction.id)?;
                    if matches!(end, End::Quit) || Walk::new(&transaction).is_empty() {
                        self.conflict = true;
                        return Ok(end);
                    }
                }
                Err(failure) => return Err(failure),
            }
        }
    }

    /// Asks until everything is decided or left.
    fn walk(&mut self, transaction: &mut Transaction, walk: &mut Walk) -> Result<End, Failure> {
        let mut shown_file = None;
        let mut show = true;
        while let Some(item) = walk.current() {
            let (file, is_conflict) = (walk.file_of(item), walk.is_conflict(item));
            if show {
                if shown_file != Some(file) {
                    let line = self.renderer.file(&transaction.files[file]);
                    self.say(&line);
                    shown_file = Some(file);
                }
                self.show(transaction, item, Extent::Preview);
            }
            show = true;
            let Some(answer) = self.terminal.ask(&question(walk, item, is_conflict)) else {
                self.say("\n");
                return Ok(End::Quit);
            };
            match (answer.trim(), is_conflict) {
                ("y", false) => walk.decide(Choice::Accept),
                ("n", _) => walk.decide(Choice::Reject),
                ("w", true) => walk.decide(Choice::Withdraw),
                ("a", false) => walk.decide_file(Choice::Accept),
                ("d", _) => walk.decide_file(Choice::Reject),
                ("A", false) => walk.decide_all(Choice::Accept),
                ("D", _) => walk.decide_all(Choice::Reject),
                ("j", _) => walk.skip(),
                ("k", _) => {
                    if !walk.back() {
                        self.say("this is the first one\n");
                        show = false;
                    }
                }
                ("q", _) => return Ok(End::Quit),
                ("p", _) | ("t", true) => {
                    self.show(transaction, item, Extent::Whole);
                    show = false;
                }
                ("s", false) => self.change(transaction, walk, item, Self::split)?,
                ("e", false) => self.change(transaction, walk, item, Self::edit)?,
                ("r", true) => self.change(transaction, walk, item, Self::propose_again)?,
                _ => {
                    self.say(help(item, is_conflict));
                    show = false;
                }
            }
        }
        Ok(End::Done)
    }

    /// Splits, edits or proposes again: the hub changes the transaction, and the walk goes on in the new one.
    fn change(
        &mut self,
        transaction: &mut Transaction,
        walk: &mut Walk,
        item: Item,
        change: Change<Self>,
    ) -> Result<(), Failure> {
        let Some(hunk) = item.hunk(transaction) else {
            self.say("only a hunk can be split, edited or proposed again\n");
            return Ok(());
        };
        let shown = HunkRef {
            id: hunk.id.clone(),
            revision: Some(hunk.revision),
        };
        match change(self, transaction, shown, item) {
            Ok(None) => {}
            Ok(Some(changed)) => {
                *transaction = changed;
                walk.renew(transaction);
            }
            // A refusal is the reviewer's to read, and no reason to lose what was decided.
            Err(failure) if failure.code != "CLIENT_GONE" => {
                let text = format!("! {failure}");
                self.warn(&text);
                *transaction = get(self.client, &transaction.id)?;
                walk.renew(transaction);
            }
            Err(failure) => return Err(failure),
        }
        Ok(())
    }

    fn split(
        &mut self,
        transaction: &Transaction,
        hunk: HunkRef,
        _: Item,
    ) -> Result<Option<Transaction>, Failure> {
        let before = total(transaction);
        let params = SplitParams {
            transaction_id: Some(transaction.id.clone()),
            hunk,
        };
        let split: Transaction = self.client.request(method::TRANSACTION_SPLIT, &params)?;
        match total(&split).saturating_sub(before) {
            0 => self.say("it cannot be split further\n"),
            more => self.say(&format!("split into {} hunks\n", more + 1)),
        }
        Ok(Some(split))
    }

    fn edit(
        &mut self,
        transaction: &Transaction,
        shown: HunkRef,
        item: Item,
    ) -> Result<Option<Transaction>, Failure> {
        let Some(hunk) = item.hunk(transaction) else {
            return Ok(None);
        };
        let path = &transaction.files[item.file()].path;
        self.surroundings.editing.store(true, Ordering::SeqCst);
        let edited = editor::edit(path, &hunk.added);
        self.surroundings.editing.store(false, Ordering::SeqCst);
        let Some(added) = edited? else {
            self.say("the proposed lines are as they were\n");
            return Ok(None);
        };
        let params = AmendParams {
            transaction_id: Some(transaction.id.clone()),
            hunk: shown,
            added,
        };
        self.client
            .request(method::TRANSACTION_AMEND, &params)
            .map(Some)
    }

    fn propose_again(
        &mut self,
        transaction: &Transaction,
        hunk: HunkRef,
        _: Item,
    ) -> Result<Option<Transaction>, Failure> {
        let params = ReproposeParams {
            transaction_id: Some(transaction.id.clone()),
            hunk,
        };
        let changed = self
            .client
            .request(method::TRANSACTION_REPROPOSE, &params)?;
        self.say("proposed again, on the lines that stand there now\n");
        Ok(Some(changed))
    }

    fn carry_out(&mut self, transaction: &Transaction, walk: &Walk) -> Result<(), Failure> {
        // Each decision of ours is a change of the transaction that the reviewer has seen.
        let mut revision = transaction.revision;
        for (choice, verb) in [
            (Choice::Accept, Verb::Accept),
            (Choice::Reject, Verb::Reject),
            (Choice::Withdraw, Verb::Reject),
        ] {
            let (hunks, files) = walk.decided(choice, revision);
            if hunks.is_empty() && files.is_empty() {
                continue;
            }
            let mut params = params(transaction, hunks, files, choice);
            params.all_files = self.terminal.json;
            let result: DecideResult = self.client.request(verb.method(), &params)?;
            revision = result.transaction.revision;
            let told = decide::told(&result);
            self.say(&told);
            self.decided.push(result);
        }
        Ok(())
    }

    fn show(&mut self, transaction: &Transaction, item: Item, extent: Extent) {
        let text = match item.hunk(transaction) {
            Some(hunk) => {
                let path = &transaction.files[item.file()].path;
                let around = walk::context(&self.surroundings.root, path, hunk);
                self.renderer
                    .hunk(transaction, hunk, around.as_ref(), extent)
            }
            None => {
                let file = &transaction.files[item.file()];
                let hunks = file.hunks.iter();
                hunks
                    .map(|hunk| self.renderer.hunk(transaction, hunk, None, extent))
                    .collect()
            }
        };
        self.say(&text);
        let is_conflict = item
            .hunk(transaction)
            .is_some_and(|it| it.conflict.is_some());
        if is_conflict && extent == Extent::Preview {
            let choices = wrap(CONFLICT_CHOICES, "", self.renderer.width).join("\n");
            let choices = self.renderer.paint.text(Style::Dim, &choices);
            self.say(&format!("{choices}\n"));
        }
    }

    fn warn(&mut self, text: &str) {
        let lines = wrap(text, "", self.renderer.width).join("\n");
        let text = self.renderer.paint.text(Style::Warning, &lines);
        self.say(&format!("{text}\n"));
    }

    fn say(&mut self, text: &str) {
        self.terminal.say(text);
    }
}

fn params(
    transaction: &Transaction,
    hunks: Vec<HunkRef>,
    files: Vec<FileRef>,
    choice: Choice,
) -> DecideParams {
    DecideParams {
        transaction_id: Some(transaction.id.clone()),
        hunks,
        files,
        withdraw: choice == Choice::Withdraw,
        ..DecideParams::default()
    }
}

fn help(item: Item, is_conflict: bool) -> &'static str {
    match (item, is_conflict) {
        (Item::Hunk { .. }, false) => HELP,
        (Item::Hunk { .. }, true) => HELP_CONFLICT,
        (Item::File { .. }, false) => HELP_FILE,
        (Item::File { .. }, true) => HELP_FILE_CONFLICT,
    }
}

fn question(walk: &Walk, item: Item, is_conflict: bool) -> String {
    let (at, of) = walk.place();
    match (is_conflict, item) {
        (true, Item::Hunk { .. }) => format!("({at}/{of}) Conflict [r,w,t,n,d,q,j,k,?]? "),
        (true, Item::File { .. }) => format!("({at}/{of}) Conflict [w,n,d,q,j,k,p,?]? "),
        (false, Item::Hunk { .. }) => {
            format!("({at}/{of}) Accept this hunk [y,n,s,e,a,d,p,q,j,k,?]? ")
        }
        (false, Item::File { .. }) => {
            format!("({at}/{of}) Accept this file's operation [y,n,a,d,p,q,j,k,?]? ")
        }
    }
}

#[cfg(test)]
mod tests;
