"""Draws what a terminal shows, colours included, as a picture.

Owns: the reading of `tmux capture-pane -e -N` and the drawing. Must not know: what runs in the terminal.
Needs Pillow, the DejaVu fonts, and fc-match for what these lack.
"""

import functools
import re
import subprocess
import unicodedata

from PIL import Image, ImageDraw, ImageFont

SIZE = 16
LINE = 21
FONTS = "/usr/share/fonts/truetype/dejavu/DejaVuSansMono%s.ttf"
STYLES = {(0, 0): "", (1, 0): "-Bold", (0, 1): "-Oblique", (1, 1): "-BoldOblique"}
THEMES = {"dark": ((224, 226, 234), (20, 22, 27)), "light": ((20, 22, 27), (224, 226, 234))}
BASIC = [(0, 0, 0), (205, 49, 49), (13, 188, 121), (229, 229, 16), (36, 114, 200), (188, 63, 188), (17, 168, 205), (229, 229, 229)]
SGR = re.compile(r"\x1b\[([0-9;:]*)m")
OTHER = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|[()][0-9A-B]|\][^\x07\x1b]*(?:\x07|\x1b\\)|.)")


def palette(index):
    """One of the 256 colours."""
    if index < 16:
        return tuple(min(255, channel + (50 if index > 7 else 0)) for channel in BASIC[index % 8])
    if index < 232:
        steps = [0, 95, 135, 175, 215, 255]
        index -= 16
        return steps[index // 36], steps[index // 6 % 6], steps[index % 6]
    return (8 + (index - 232) * 10,) * 3


class Pen:
    """The colours and the style that hold at one place of the text."""

    def __init__(self, theme):
        self.theme = THEMES[theme]
        self.reset()

    def reset(self):
        self.fg, self.bg = self.theme
        self.bold = self.italic = self.reverse = self.underline = 0

    def apply(self, codes):
        codes = [int(code or 0) for code in codes.replace(":", ";").split(";")]
        while codes:
            code = codes.pop(0)
            if code == 0:
                self.reset()
            elif code in (1, 22):
                self.bold = int(code == 1)
            elif code in (3, 23):
                self.italic = int(code == 3)
            elif code in (4, 24):
                self.underline = int(code == 4)
            elif code in (7, 27):
                self.reverse = int(code == 7)
            elif code in (38, 48):
                color = palette(codes[1]) if codes[0] == 5 else tuple(codes[1:4])
                del codes[: 2 if codes[0] == 5 else 4]
                self.fg, self.bg = (color, self.bg) if code == 38 else (self.fg, color)
            elif 30 <= code <= 37 or 90 <= code <= 97:
                self.fg = palette(code - (30 if code < 90 else 82))
            elif 40 <= code <= 47 or 100 <= code <= 107:
                self.bg = palette(code - (40 if code < 100 else 92))
            elif code == 39:
                self.fg = self.theme[0]
            elif code == 49:
                self.bg = self.theme[1]


def cells(text, theme):
    """Yields row, column, width, character and pen."""
    pen = Pen(theme)
    for row, line in enumerate(text.split("\n")):
        column = at = 0
        while at < len(line):
            if line[at] == "\x1b":
                match = SGR.match(line, at)
                if match:
                    pen.apply(match.group(1))
                else:
                    match = OTHER.match(line, at)
                at = match.end() if match else at + 1
                continue
            char = line[at]
            at += 1
            if unicodedata.combining(char):
                continue
            width = 2 if unicodedata.east_asian_width(char) in "WF" else 1
            yield row, column, width, char, pen
            column += width


@functools.cache
def font_for(char, bold, italic):
    """A font that has the character."""
    path = FONTS % STYLES[bold, italic]
    if ord(char) > 0x2FFF:
        query = "monospace:charset=%x" % ord(char)
        found = subprocess.run(["fc-match", "-f", "%{file}", query], capture_output=True, text=True, check=False)
        path = found.stdout or path
    try:
        return ImageFont.truetype(path, SIZE)
    except OSError:
        return ImageFont.truetype(FONTS % "", SIZE)


def draw(text, columns, rows, theme, out):
    """Writes the picture of a screen of `columns` by `rows` cells to the file `out`."""
    cell = round(ImageFont.truetype(FONTS % "", SIZE).getlength("M"))
    image = Image.new("RGB", (columns * cell, rows * LINE), THEMES[theme][1])
    canvas = ImageDraw.Draw(image)
    for row, column, width, char, pen in cells(text, theme):
        if row >= rows:
            break
        fg, bg = (pen.bg, pen.fg) if pen.reverse else (pen.fg, pen.bg)
        left, top = column * cell, row * LINE
        canvas.rectangle([left, top, left + width * cell - 1, top + LINE - 1], fill=bg)
        if char != " ":
            canvas.text((left, top + 1), char, font=font_for(char, pen.bold, pen.italic), fill=fg)
        if pen.underline:
            canvas.line([left, top + LINE - 2, left + width * cell, top + LINE - 2], fill=fg)
    image.save(out, optimize=True)
