#!/usr/bin/env python3
"""Looks whether what Markdown pages link to in this repository is there: files, and headings of pages.

    check_links.py ROOT          README.md, CONTRIBUTING.md, and all pages below docs and samples
    check_links.py --self-test   plants dead links, and looks whether they are found
"""

import pathlib
import re
import sys
import tempfile

LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"^ *(`{3,}).*?^ *\1`*$|`[^`\n]*`", re.S | re.M)


def anchors_of(page):
    """Of a page's headings, as GitHub names them."""
    names = set()
    for line in re.sub(r"^ *```.*?^ *```", "", page.read_text(), flags=re.S | re.M).splitlines():
        if line.startswith("#"):
            title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", line.lstrip("#").strip()).lower()
            name = re.sub(r"[^\w\- ]", "", title).replace(" ", "-")
            count = 0
            while name + (f"-{count}" if count else "") in names:
                count += 1
            names.add(name + (f"-{count}" if count else ""))
    return names


def dead_links(root):
    pages = [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").rglob("*.md")),
             *sorted((root / "samples").rglob("*.md"))]
    count, dead = 0, []
    for page in filter(pathlib.Path.exists, pages):
        text = CODE.sub(lambda match: "\n" * match[0].count("\n"), page.read_text())
        for match in LINK.finditer(text):
            path, _, anchor = match[1].partition("#")
            if "://" in match[1] or match[1].startswith("mailto:"):
                continue
            count += 1
            target = page.parent / path if path else page
            here = f"{page.relative_to(root)}:{text[:match.start()].count(chr(10)) + 1}: "
            if not target.exists():
                dead.append(here + f"there is no {path}")
            elif anchor and target.suffix == ".md" and anchor not in anchors_of(target):
                dead.append(here + f"{path or 'this page'} has no heading #{anchor}")
    return count, dead


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "docs").mkdir()
        (root / "README.md").write_text("# A, b & `c`\n[x](docs/a.md) [x](#a-b--c) `[x](no)` [x](https://no)\n[x](no.md)\n")
        (root / "docs/a.md").write_text("# T\n## T\n  ```\n[x](no)\n  ```\n[x](../README.md) [x](#t-1) [x](#t-2) [x](b/)\n")
        count, dead = dead_links(root)
    wanted = ["README.md:3: there is no no.md", "docs/a.md:6: this page has no heading #t-2", "docs/a.md:6: there is no b/"]
    if dead == wanted and count == 7:
        print("all planted links were found, and no other")
        return 0
    print(count, *dead, sep="\n")
    return 1


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    if len(arguments) != 1:
        print(__doc__)
        return 2
    count, dead = dead_links(pathlib.Path(arguments[0]).resolve())
    print(*dead, f"{count} links checked, {len(dead)} dead", sep="\n")
    return 1 if dead or not count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
