//! Ways around a rule, each with what becomes of it.

use super::*;
use crate::gate::command::known_options;

/// A policy of somebody who lets an agent look around.
fn looking() -> Rules {
    rules(
        &[
            "git log",
            "git status",
            "git diff",
            "git show",
            "git grep",
            "git branch",
            "ls",
            "cat",
            "echo",
            "grep",
            "rg",
            "find",
            "sort",
            "sed",
            "awk",
            "tar",
            "head",
            "uniq",
            "make",
            "cargo test",
            "python",
            "xargs",
            "timeout",
            "env",
            "sh",
            "less",
            "curl",
            "npm test",
            "cd",
            "export",
            "tee",
            "test",
        ],
        &["rm", "git push", "curl evil", "chmod -R", "find -delete"],
    )
}

#[test]
fn scripts_are_judged_by_all_that_they_run() {
    let rules = looking();
    for (script, expected) in [
        ("git log -3", "allow"),
        ("git status && git log -1", "allow"),
        ("git log | head -3", "allow"),
        ("git log --grep='a && b; c'", "allow"),
        ("echo '$(date)'", "allow"),
        ("g'i't l\"o\"g", "allow"),
        ("ls 2>/dev/null", "allow"),
        ("cat < f.txt", "allow"),
        ("LC_ALL=C ls", "allow"),
        ("ls *.txt", "ask"),
        ("ls ./*.txt src/*.txt", "allow"),
        ("git diff ./*.txt", "allow"),
        ("git diff *", "ask"),
        ("git log && touch x", "ask"),
        ("git log;touch x", "ask"),
        ("git log\ntouch x", "ask"),
        ("git log\r\ntouch x", "ask"),
        ("ls & touch x", "ask"),
        ("ls > x", "ask"),
        ("echo $(touch x)", "ask"),
        ("echo \"$(touch x)\"", "ask"),
        ("echo `touch x`", "ask"),
        ("echo ${x:-$(touch x)}", "ask"),
        ("cat <(touch x)", "ask"),
        ("cat <<X\n$(touch x)\nX", "ask"),
        ("{ ls; touch x; }", "ask"),
        ("ls() { touch x; }; ls", "ask"),
        ("git log {--output=x,}", "ask"),
        ("git $(echo push)", "ask"),
        ("$0 log", "ask"),
        ("g?t log", "ask"),
        ("cd ../evil && git status", "ask"),
        ("export GIT_PAGER=x; git log", "ask"),
        ("PATH=./bin; ls", "ask"),
        ("LD_PRELOAD=./evil.so ls", "ask"),
        ("LC_ALL=../evil ls", "ask"),
        ("IFS=x ls", "ask"),
        ("alias ls=rmdir; ls", "ask"),
        ("eval ls", "ask"),
        (". ./evil.sh", "ask"),
        ("/bin/ls", "ask"),
        ("./ls", "ask"),
        ("\\ls", "allow"),
        ("rm x", "deny"),
        ("git status && rm -rf f.txt", "deny"),
        ("echo $(rm x)", "deny"),
        ("echo \"`rm x`\"", "deny"),
        ("ls; (rm x)", "deny"),
        ("if true; then rm x; fi", "deny"),
        ("\\rm x", "deny"),
        ("'r'm x", "deny"),
        ("/bin/rm x", "deny"),
        ("A=1 rm x", "deny"),
        ("command rm x", "deny"),
        ("sudo -u root rm x", "deny"),
        ("env A=1 rm x", "deny"),
        ("timeout -k 1 5 rm x", "deny"),
        ("nice -n 5 nohup rm x", "deny"),
        ("ls | xargs -n 1 rm", "deny"),
        ("find . -exec rm {} +", "deny"),
        ("sh -c 'rm x'", "deny"),
        ("bash -ec \"ls; rm x\"", "deny"),
        ("busybox rm x", "deny"),
        ("eval 'rm x'", "deny"),
        ("git -C . push", "deny"),
        ("git -c a=b --no-pager push origin", "deny"),
        ("git push", "deny"),
        ("RM x", "deny"),
        ("echo rm", "allow"),
        ("git log push", "allow"),
    ] {
        let judgement = shell(&rules, script);
        assert_eq!(
            word(judgement.ruling),
            expected,
            "{script:?}: {judgement:?}"
        );
    }
}

#[test]
fn tokens_are_whole() {
    let rules = rules(&["ls", "git log", "npm run test", "go *"], &[]);
    for (tokens, expected) in [
        (&["ls"][..], "allow"),
        (&["lsof"], "ask"),
        (&["git", "log"], "allow"),
        (&["git", "logx"], "ask"),
        (&["git"], "ask"),
        (&["git", "log; touch x"], "ask"),
        (&["git log"], "ask"),
        (&["npm", "run", "test:all"], "ask"),
        (&["npm", "run", "test", "--", "x"], "allow"),
        (&["go", "vet"], "allow"),
        (&["go"], "ask"),
        (&["ls", ""], "allow"),
        (&["", "ls"], "ask"),
        (&["ls\n"], "ask"),
        (&["ls\u{200b}"], "ask"),
        (&["\u{ff4c}s"], "ask"),
    ] {
        assert_eq!(word(argv(&rules, tokens).ruling), expected, "{tokens:?}");
    }
}

#[test]
fn every_known_option_turns_allow_into_ask() {
    let mut count = 0;
    for (program, option) in known_options() {
        let rules = rules(&[program], &[]);
        let plain = option.strip_prefix('=').unwrap_or(option);
        let mut forms = vec![
            vec![program, plain, "value"],
            vec![program, "operand", plain],
        ];
        let attached = format!("{plain}=value");
        let cluster = format!("-{}", plain.trim_start_matches('-'));
        if plain.starts_with("--") || option.starts_with('=') {
            forms.push(vec![program, &attached]);
        } else {
            let stuck = format!("{plain}value");
            let rule = self::rules(&[program], &[]);
            assert_eq!(
                word(argv(&rule, &[program, &stuck]).ruling),
                "ask",
                "{program} {stuck}"
            );
            forms.push(vec![program, &cluster]);
        }
        for form in &forms {
            let judgement = argv(&rules, form);
            assert_eq!(word(judgement.ruling), "ask", "{form:?}");
            assert!(judgement.doubt.is_some(), "{form:?} says why");
        }
        count += 1;
    }
    assert!(count > 300, "{count}");
}

#[test]
fn options_are_found_in_every_spelling() {
    let rules = looking();
    for (line, expected) in [
        ("sort -k2 f", "allow"),
        ("sort -no out f", "ask"),
        ("sort -oout f", "ask"),
        ("sort --outp=x f", "ask"),
        ("sort --compress-prog=x f", "ask"),
        ("sort -- -o", "allow"),
        ("sort -k 1o f", "allow"),
        ("rg --pre=./x y", "ask"),
        ("rg -tz y", "allow"),
        ("rg -iz y", "ask"),
        ("find . -name *.rs", "allow"),
        ("find . -delete", "deny"),
        ("find . -type d -exec ls {} +", "ask"),
        ("find . -fprintf /x y", "ask"),
        ("tar -tf a.tar", "allow"),
        ("tar tf a.tar", "allow"),
        ("tar xfI a.tar ./evil", "ask"),
        ("tar -xf a.tar --to-comm=./x", "ask"),
        ("tar -xf a --checkpoint=1 --checkpoint-action=exec=x", "ask"),
        ("tar -tf host:a.tar", "ask"),
        ("tar -tf ./a:b.tar", "allow"),
        ("sed -n 1,5p f", "allow"),
        ("sed s/a/b/g f", "allow"),
        ("sed s/a/b/e f", "ask"),
        ("sed s|a|b|w f", "ask"),
        ("sed s,a,b,gp;s,c,d, f", "allow"),
        ("sed -i s/a/b/ f", "ask"),
        ("sed -ni s/a/b/ f", "ask"),
        ("sed -n -e 1e f", "ask"),
        ("sed --expression=1e f", "ask"),
        ("sed /a/,/b/d f", "allow"),
        ("sed /a/wx f", "ask"),
        ("sed e f", "ask"),
        ("sed $d f", "allow"),
        ("sed -f x f", "ask"),
        ("awk {print$1} f", "allow"),
        ("awk -F: {print$1} f", "allow"),
        ("awk BEGIN{system(\"x\")}", "ask"),
        ("awk {print>\"x\"} f", "ask"),
        ("awk {print|\"sh\"} f", "ask"),
        ("awk $1>=2 f", "allow"),
        ("awk -v a=1 BEGIN{\"x\"|getline} f", "ask"),
        ("uniq -c in", "allow"),
        ("uniq in out", "ask"),
        ("make test", "allow"),
        ("make CC=./x test", "ask"),
        ("make -C ../x test", "ask"),
        ("cargo test --all", "allow"),
        ("cargo test --config x", "ask"),
        ("python x.py", "allow"),
        ("python -c x", "ask"),
        ("xargs ls", "ask"),
        ("timeout 5 ls", "ask"),
        ("env ls", "ask"),
        ("sh x.sh", "allow"),
        ("less +!x f", "ask"),
        ("curl http://a", "allow"),
        ("curl -so x http://a", "ask"),
        ("curl -H o http://a", "allow"),
        ("npm test --script-shell=./x", "ask"),
    ] {
        let tokens: Vec<&str> = line.split(' ').collect();
        let judgement = argv(&rules, &tokens);
        assert_eq!(word(judgement.ruling), expected, "{line}: {judgement:?}");
    }
}

#[test]
fn git_is_known_by_its_options() {
    let rules = looking();
    for (line, expected) in [
        ("git log -p -2", "allow"),
        ("git log --oneline --graph --all --decorate", "allow"),
        ("git diff --stat HEAD~1", "allow"),
        ("git diff --text a b", "allow"),
        ("git diff -O order", "allow"),
        ("git --no-pager log -3", "allow"),
        ("git -P log", "allow"),
        ("git log -- --output=x", "allow"),
        ("git -p log", "ask"),
        ("git --paginate log", "ask"),
        ("git -c core.pager=x log", "ask"),
        ("git -C ../evil status", "ask"),
        ("git --git-dir=evil/.git log", "ask"),
        ("git --git-dir evil/.git log", "ask"),
        ("git --exec-path=./bin log", "ask"),
        ("git --config-env=alias.zz=ZZ zz", "ask"),
        ("git --work-tree=/ status", "ask"),
        ("git --namespace x log", "ask"),
        ("git --what-is-this log", "ask"),
        ("git log --output=x", "ask"),
        ("git log --output x", "ask"),
        ("git diff --outpu=x", "ask"),
        ("git diff --ext-diff", "ask"),
        ("git diff --ext", "ask"),
        ("git diff --textconv", "ask"),
        ("git diff --no-ext-diff --no-textconv", "allow"),
        ("git log --show-signature", "ask"),
        ("git log --format=%G?", "ask"),
        ("git log --format=%h", "allow"),
        ("git grep -Oless x", "ask"),
        ("git grep --open-files x", "ask"),
        ("git grep -n x", "allow"),
        ("git log --help", "ask"),
        ("git branch --edit-description", "ask"),
        ("git submodule foreach ls", "ask"),
    ] {
        let tokens: Vec<&str> = line.split(' ').collect();
        let judgement = argv(&rules, &tokens);
        assert_eq!(word(judgement.ruling), expected, "{line}: {judgement:?}");
    }
    let config = super::rules(&["git config"], &[]);
    assert_eq!(
        word(argv(&config, &["git", "config", "--get", "a.b"]).ruling),
        "allow"
    );
    assert_eq!(
        word(argv(&config, &["git", "config", "core.pager", "x"]).ruling),
        "ask"
    );
}

#[test]
fn what_a_rule_spells_out_itself_is_meant() {
    let rules = rules(
        &[
            "git -c color.ui=never log",
            "timeout 60 cargo test",
            "find . -exec",
            "git -c",
        ],
        &[],
    );
    for (line, expected) in [
        ("git -c color.ui=never log -3", "allow"),
        ("git -c color.ui=always log", "ask"),
        ("timeout 60 cargo test", "allow"),
        ("timeout 60 cargo test --config x", "ask"),
        ("find . -exec rm x ;", "ask"),
    ] {
        let tokens: Vec<&str> = line.split(' ').collect();
        assert_eq!(word(argv(&rules, &tokens).ruling), expected, "{line}");
    }
}

#[test]
fn the_place_matters() {
    let rules = looking();
    let log = command(&["git", "log"]);
    let keys = ["diff.external".to_owned()];
    let hostile = Place {
        git_programs: &keys,
        ..PLACE
    };
    let judgement = rules.judge(&log, &hostile);
    assert_eq!(judgement.ruling, Ruling::Silent);
    assert_eq!(
        judgement.doubt.unwrap().to_string(),
        "`diff.external` in the repository's own configuration makes git run a program"
    );
    let aliased = ["alias.zz".to_owned()];
    let place = Place {
        git_programs: &aliased,
        ..PLACE
    };
    assert_eq!(rules.judge(&log, &place).ruling, Ruling::Allow);

    let mut own = log.clone();
    own.command.as_mut().unwrap().resolved = "/home/u/project/bin/git".into();
    assert_eq!(rules.judge(&own, &PLACE).ruling, Ruling::Silent);

    let mut with_variable = log.clone();
    let env = &mut with_variable.command.as_mut().unwrap().env;
    env.insert("GIT_EXTERNAL_DIFF".into(), "x".into());
    assert_eq!(rules.judge(&with_variable, &PLACE).ruling, Ruling::Silent);

    // A link by another name is still what it is.
    let mut linked = command(&["gone", "x"]);
    linked.command.as_mut().unwrap().resolved = "/usr/bin/rm".into();
    assert_eq!(rules.judge(&linked, &PLACE).ruling, Ruling::Deny);
}

#[test]
fn deny_finds_options_wherever_they_stand() {
    let rules = rules(&[], &["rm -rf", "git push --force", "chmod -R 777"]);
    for (line, expected) in [
        ("rm x", "ask"),
        ("rm -r x", "ask"),
        ("rm -rf x", "deny"),
        ("rm -fr x", "deny"),
        ("rm -r -v x -f", "deny"),
        ("git push", "ask"),
        ("git push origin --force", "deny"),
        ("git push origin --force=x", "deny"),
        ("git push origin --forced", "ask"),
        ("chmod 777 -R x", "deny"),
        ("chmod 755 -R x", "ask"),
    ] {
        let tokens: Vec<&str> = line.split(' ').collect();
        assert_eq!(word(argv(&rules, &tokens).ruling), expected, "{line}");
    }
}
