#!/usr/bin/env python3
"""What `tilec fuse --explain=html` writes, as a browser shows it.

    check_page.py TILEC SAMPLES

Pages of graphs, one of them with markup in its comments and strings, are looked through: nothing comes from elsewhere, nothing of a
source is read as HTML. Then headless Chromium opens them: no errors, as many nodes as --explain=json has, none on top of another, and what is pointed
at and clicked is what shows. Exits with 77 where there is no Chromium.
"""

import html.parser
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HOSTILE = '''import std.nn

/// </script><script>console.error("the doc ran")</script>
kernel norm(x: f32[M, N]) -> (y: f32[M, N]) requires N > 0 {
    parallel i in tiles(M) { // <img src=x onerror="console.error('the comment ran')">
        let m = max(x[i, :], N)
        assert(m == m, "<!-- <script> NaN & \\"")
        y[i, :] = x[i, :] - m
    }
}

graph hostile(x: f32[M, N], b: f32[N]) -> (y: f32[M, N], z: f32[M, N]) {
    let n = norm(relu(x))
    let unused = f32(x <b) * x
    y = gelu(n + b // </script><b>bold</b>
             )
    z = y
}

graph nothing(x: f32[N]) -> (y: f32[N]) {
    y = x
}

graph nested(x: f32[M, N], b: f32[N]) -> (y: f32[M, N]) {
    let (h, g) = hostile(x, b)
    y = h * norm(g + 1)
}
'''

# Goes into a copy of a page, does there what people do, and leaves what came of it in the document.
DRIVER = '''<script>
(async () => {
  const found = {}, wait = () => new Promise(done => setTimeout(done, 50));
  const all = selector => [...document.querySelectorAll(selector)];
  found.paper = getComputedStyle(document.body).backgroundColor;
  found.overlaps = [];
  for (const pane of ["before", "after"]) {
    const frame = document.querySelector(`#${pane} svg`).getBoundingClientRect();
    const boxes = all(`#${pane} svg a`).map(node => [node.id, node.getBoundingClientRect()]);
    boxes.forEach(([id, a], n) => {
      if (a.left < frame.left - 1 || a.right > frame.right + 1 || a.top < frame.top - 1 || a.bottom > frame.bottom + 1)
        found.overlaps.push(`${id} and the edge`);
      for (const [other, b] of boxes.slice(n + 1))
        if (a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)
          found.overlaps.push(`${id} and ${other}`);
    });
  }
  const last = all("#after a.kernel").at(-1);
  last?.dispatchEvent(new MouseEvent("mouseenter"));
  found.lit = all(".lit").map(node => node.id);
  last?.dispatchEvent(new MouseEvent("mouseleave"));
  found.stillLit = all(".lit").length;
  found.panels = {};
  for (const node of all("svg a")) {
    node.dispatchEvent(new MouseEvent("click", {bubbles: true, cancelable: true}));
    await wait();
    found.panels[location.hash.slice(1)] = document.getElementById("panel").textContent;
    if (all(".selected").map(node => node.id).join() !== node.id)
      found.panels[node.id] = "is not selected";
  }
  dispatchEvent(new KeyboardEvent("keydown", {key: "Escape"}));
  await wait();
  found.selectedAfterEscape = all(".selected").length;
  const result = document.createElement("script");
  result.type = "application/json";
  result.id = "found";
  result.textContent = JSON.stringify(found).replaceAll("<", "\\\\u003c");
  document.body.append(result);
})();
</script></body>'''


class Tags(html.parser.HTMLParser):
    """The tags of a page, and the text of its data."""

    def __init__(self, text):
        super().__init__()
        self.seen, self.data, self.isData = [], "", False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))
        self.isData = dict(attributes).get("id") == "data"

    def handle_endtag(self, tag):
        self.isData = False

    def handle_data(self, text):
        if self.isData:
            self.data += text


def looked_through(page, report):
    """What is wrong with the text of a page."""
    problems, tags = [], Tags(page)
    names = [tag for tag, _ in tags.seen]
    for tag, count in (("script", 3), ("style", 1), ("img", 0), ("b", 0), ("link", 0), ("iframe", 0)):
        if names.count(tag) != count:
            problems.append(f"it has {names.count(tag)} <{tag}>, not {count}")
    for tag, attributes in tags.seen:
        for key in attributes.keys() & {"src", "href", "action", "onerror", "onload"}:
            problems.append(f"<{tag}> has {key}={attributes[key]}")
    if re.search(r"@import|url\(", page):
        problems.append("its style loads something")
    data = json.loads(tags.data)
    problems += [f"its data has another `{key}` than --explain=json" for key in report if key not in ("ok", "diagnostics") and data.get(key) != report[key]]
    for call, sources in zip(data["calls"], data["sources"]):
        line = int(call["place"].split(":")[-2])
        if sources["call"]["line"] != line or not sources["call"]["text"].strip():
            problems.append(f"no source of {call['label']}")
        if call["callee"] not in data["ir"]:
            problems.append(f"no IR of {call['callee']}")
    return problems


class Browser:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder

    def show(self, text, address="", flags=()):
        """The document in the end, and what it has complained of."""
        path = self.folder / "page.html"
        path.write_text(text)
        shown = subprocess.run(
            [self.program, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--window-size=1600,1200",
             f"--user-data-dir={self.folder / 'profile'}", "--virtual-time-budget=20000", *flags, "--dump-dom", path.as_uri() + address],
            capture_output=True, text=True, timeout=120)
        if shown.returncode or "</html>" not in shown.stdout:
            raise SystemExit(f"{self.program} failed: {shown.stderr[-2000:]}")
        return shown.stdout, [line for line in shown.stderr.splitlines() if "CONSOLE" in line]


def count(document, pane, kind):
    part = re.search(rf'id="{pane}">(.*?)</section>', document, re.S)
    return len(re.findall(rf'<a [^>]*class="{kind}[ "]', part[1])) if part else -1


def shown(browser, page, report):
    """What is wrong with a page in a browser."""
    document, problems = browser.show(page)
    for pane, kernels, tensors in (("before", "calls", "tensors"), ("after", "kernels", "tensors_after")):
        for kind, key in (("kernel", kernels), ("tensor", tensors)):
            if count(document, pane, kind) != len(report[key]):
                problems.append(f"{count(document, pane, kind)} {kind}s {pane}, not {len(report[key])}")
    for section, key in (("boundaries", "boundaries"), ("reads", "shared_reads")):
        text = document.split(f'id="{section}"')[1].split("</section>")[0]
        expected = [pair["tensor"] for pair in report[key] if not pair["best_apart"]]
        rows = len(re.findall("<tr>", text)) - 1 if expected else 0
        if rows != len(expected) or (len(expected) < len(report[key])) != ("nothing is to be changed" in text):
            problems.append(f"{rows} rows of {key} in the table, not {len(expected)}, or others are not counted")
    # The address names what is selected.
    linked, complaints = browser.show(page, "#call-1")
    panel = re.search(r'<aside.*?</aside>', linked, re.S)[0]
    problems += complaints
    if report["calls"] and ('class="source"' not in panel or "tile." not in panel):
        problems.append("#call-1 shows neither source nor IR: " + panel[:300])
    return problems + driven(browser, page, report)


def driven(browser, page, report):
    """The same of what happens when it is used."""
    papers, problems = [], []
    for flags in ((), ("--blink-settings=preferredColorScheme=0",)):
        document, complaints = browser.show(page.replace("</body>", DRIVER), flags=flags)
        problems += complaints
        result = re.search(r'id="found">(.*?)</script>', document, re.S)
        if not result:
            return problems + ["the driver has not come to its end"]
        found = json.loads(result[1])
        papers.append(found["paper"])
    if papers[0] == papers[1]:
        problems.append("it is as light as it is dark")
    problems += [f"{pair} overlap" for pair in found["overlaps"]]
    last = len(report["kernels"])
    expected = {f"node-kernel-{last}", *(f"node-call-{call + 1}" for call in report["kernels"][-1]["calls"])} if last else set()
    if set(found["lit"]) != expected or found["stillLit"] or found["selectedAfterEscape"]:
        problems.append(f"lights up {found['lit']}, not {expected}; {found['stillLit']} stay, {found['selectedAfterEscape']} after Escape")
    for n, call in enumerate(report["calls"]):
        panel = found["panels"].get(f"call-{n + 1}", "nothing")
        if not panel.startswith(call["label"]) or "IR of" not in panel or call["cost"]["bound"].strip("-") not in panel:
            problems.append(f"a click on {call['label']} shows {panel[:200]}")
    for n, kernel in enumerate(report["kernels"]):
        panel = found["panels"].get(f"kernel-{n + 1}", "nothing")
        reasons = [boundary.get(what, "") for boundary in report["boundaries"] if n in (boundary["from"], boundary["to"])
                   for what in ("reason", "hint", "place")]
        reasons += [boundary["witness"]["text"] for boundary in report["boundaries"]
                    if "witness" in boundary and n in (boundary["from"], boundary["to"])]
        if kernel["symbol"] not in panel or not all(reason in panel for reason in reasons):
            problems.append(f"a click on kernel {n + 1} shows {panel[:200]}")
    for key, prefix in (("tensors", "tensor"), ("tensors_after", "kept")):
        for n, tensor in enumerate(report[key]):
            if tensor["type"] not in found["panels"].get(f"{prefix}-{n + 1}", "nothing"):
                problems.append(f"a click on {tensor['name']} shows no tensor")
    return problems


def main():
    tilec, samples = sys.argv[1], pathlib.Path(sys.argv[2])
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "hostile.tile").write_text(HOSTILE)
        browser = program and Browser(program, folder)
        if browser and not browser.show("<html><script>console.error('planted')</script></html>")[1]:
            raise SystemExit("errors of a page are not seen")
        hostile = folder / "hostile.tile"
        for graph in (f"{hostile}:hostile", f"{hostile}:nothing", f"{hostile}:nested",
                      samples / "10-transformer-block" / "transformer_block.tile"):
            words = [tilec, "fuse", str(graph), "--device=h200"]
            page, report = (subprocess.run([*words, f"--explain={kind}"], capture_output=True, text=True, check=True).stdout
                            for kind in ("html", "json"))
            report = json.loads(report)
            problems = looked_through(page, report)
            if browser:
                problems += shown(browser, page, report)
            failed += bool(problems)
            print(f"{pathlib.Path(graph).name}: {'; '.join(problems) or 'right'}")
    if not failed and not browser:
        print("SKIPPED: there is no Chromium, so no page was looked at in a browser\n"
              "         (cmake/install-deps.sh --browser installs it)")
        return 77
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
