"""Takes a picture of a review in Neovim, from a real run.

    python3 tests/pictures/neovim.py --nvim NVIM --redline REDLINE [--columns N] [--rows N] [--theme dark|light]
        [--project NAME] [--keys KEYS]... OUT.png

Makes a scratch project, opens it in Neovim under a tmux of its own, proposes edits from outside with
`redline propose`, presses the keys, and draws what the terminal shows when it has come to rest.
A project is a folder beside this file: `picture.json` has the file to open, the proposal if there is one, where the
files are if not in `files`, and keys to press before those of the command line. Keys are tmux's names with blanks
between; `=TEXT` types a text, `@TEXT` waits until the screen shows it. Needs tmux and Pillow.
"""

import argparse
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

import terminal

HERE = pathlib.Path(__file__).resolve().parent
PLUGIN = HERE.parent.parent / "clients" / "nvim"
LIMIT_S = 30


class Tmux:
    """A terminal of our own; nothing else on the machine is touched."""

    def __init__(self, folder, columns, rows):
        self.base = ["tmux", "-S", str(folder / "tmux.sock"), "-f", "/dev/null"]
        self.size = ["-x", str(columns), "-y", str(rows)]

    def run(self, *arguments):
        return subprocess.run([*self.base, *arguments], capture_output=True, text=True, check=True).stdout

    def start(self, command, env, cwd):
        exports = " ".join(f"{name}={shlex.quote(value)}" for name, value in env.items())
        line = f"env -i {exports} TERM=xterm-256color COLORTERM=truecolor {shlex.join(command)}"
        self.run("new-session", "-d", *self.size, "-c", str(cwd), line)
        self.run("set", "-g", "escape-time", "0")
        self.run("set", "-ga", "terminal-overrides", ",*:RGB")

    def screen(self):
        return self.run("capture-pane", "-p", "-e", "-N")

    def press(self, keys):
        """Presses keys, types a text, or waits for one."""
        if keys.startswith("@"):
            self.wait(keys[1:])
        elif keys.startswith("="):
            self.run("send-keys", "-l", keys[1:])
        else:
            self.run("send-keys", *keys.split(" "))
            self.rest()

    def wait(self, needle):
        """Waits until the screen shows the text."""
        end = time.monotonic() + LIMIT_S
        while needle not in self.run("capture-pane", "-p"):
            if time.monotonic() > end:
                sys.exit(f"not seen within {LIMIT_S} s: {needle}\n{self.screen()}")
            time.sleep(0.05)

    def rest(self):
        """Waits until the screen stays as it is, and returns it."""
        before, since = self.screen(), time.monotonic()
        while time.monotonic() - since < 0.5:
            time.sleep(0.05)
            now = self.screen()
            if now != before:
                before, since = now, time.monotonic()
        return before


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nvim", required=True)
    parser.add_argument("--redline", required=True)
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--rows", type=int, default=45)
    parser.add_argument("--theme", choices=["dark", "light"], default="dark")
    parser.add_argument("--project", default="limiter")
    parser.add_argument("--config", default="", help="Lua, run before the file is opened")
    parser.add_argument("--keys", action="append", default=[])
    parser.add_argument("out")
    options = parser.parse_args()

    with tempfile.TemporaryDirectory(prefix="rlp") as name:
        folder = pathlib.Path(name)
        source = HERE / options.project
        spec = json.loads((source / "picture.json").read_text())
        shutil.copytree(source / spec.get("files", "files"), folder / "ws")
        for sub in ["home", "state", "run", "config", "cache", "data"]:
            (folder / sub).mkdir(mode=0o700)
        env = {"PATH": os.environ["PATH"], "HOME": str(folder / "home"), "LANG": "C.UTF-8"}
        for variable, sub in [("STATE_HOME", "state"), ("RUNTIME_DIR", "run"), ("CONFIG_HOME", "config"), ("CACHE_HOME", "cache"), ("DATA_HOME", "data")]:
            env[f"XDG_{variable}"] = str(folder / sub)

        tmux = Tmux(folder, options.columns, options.rows)
        init = folder / "init.lua"
        init.write_text(
            f"vim.opt.rtp:prepend({json.dumps(str(PLUGIN))})\n"
            f"vim.g.redline = {{ cmd = {{ {json.dumps(os.path.abspath(options.redline))}, 'lsp' }} }}\n"
            "vim.g.mapleader = ' '\nvim.g.redline_keymaps = true\nvim.o.number = true\nvim.o.ruler = false\n"
            "vim.o.shortmess = vim.o.shortmess .. 'FI'\n"
            "vim.o.statusline = [[ %f %m%=%{get(b:,'redline_status','')}  %l:%c ]]\n"
            f"vim.o.background = '{options.theme}'\n{options.config}\n"
        )
        try:
            tmux.start([options.nvim, "-u", str(init), "-i", "NONE", "-n", spec["open"]], env, folder / "ws")
            tmux.wait("redline:")
            if "proposal" in spec:
                proposed = subprocess.run(
                    [os.path.abspath(options.redline), "propose", "--json"],
                    input=json.dumps(spec["proposal"]),
                    env=env, cwd=folder / "ws", capture_output=True, text=True, check=False,
                )
                if proposed.returncode:
                    sys.exit(proposed.stdout + proposed.stderr)
                tmux.wait("◀")
            for keys in [*spec.get("keys", []), *options.keys]:
                tmux.press(keys)
            terminal.draw(tmux.rest(), options.columns, options.rows, options.theme, options.out)
        finally:
            subprocess.run([*tmux.base, "kill-server"], check=False, capture_output=True)


if __name__ == "__main__":
    main()
