"""A report read as a browser reads it, by the parser of Python's library."""

import re
from html.parser import HTMLParser

EMPTY = {"meta", "br", "link", "img", "input", "hr"}


class Page(HTMLParser):
    """The elements of a page, in their order, with their attributes, texts and parents."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.open, self.unbalanced = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        parents = [each["tag"] for each in self.open]
        element = {"tag": tag, "attrs": dict(attrs), "text": "", "parents": parents}
        element["within"] = [each["attrs"].get("id") for each in self.open]
        self.elements.append(element)
        if tag not in EMPTY:
            self.open.append(element)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in EMPTY:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open[-1]["tag"] != tag:
            self.unbalanced.append(tag)
        else:
            self.open.pop()

    def handle_data(self, data):
        for element in self.open:
            element["text"] += data

    def all(self, *tags):
        return [each for each in self.elements if each["tag"] in tags]

    def section(self, name):
        (found,) = [each for each in self.all("section") if each["attrs"]["id"] == name]
        return found


def luminance(color):
    """Relative luminance (WCAG 2)."""
    parts = [int(color[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    """Contrast of two colours, from 1 to 21 (WCAG 2)."""
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def palettes(text):
    """The colours of a page by their names: of light windows, dark ones, and of paper."""
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL).group(1)
    found = re.findall(r"(@media[^{]*\{)?:root\{([^}]*)\}", style)
    assert len(found) == 3
    return {
        name: dict(re.findall(r"--([\w-]+):(#[0-9a-f]{6})", body))
        for name, (_, body) in zip(("light", "dark", "print"), found, strict=True)
    }
