// Draws the graph before and after from the data of the page, and tells of what is selected: the
// hash of the address names it (#call-2, #kernel-1, #tensor-3, #kept-1), so that it can be linked.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const place = id => document.getElementById(id);
const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

//===-- Words -------------------------------------------------------------===//

const scaled = (value, steps) => {
  if (value === null)
    return "unknown";
  const [least, unit, digits] = steps.find(([least]) => value >= least) ?? steps.at(-1);
  return `${(value / least).toFixed(digits)} ${unit}`;
};
const bytesText = bytes => scaled(bytes, [[1e15, "PB", 2], [1e12, "TB", 2], [1e9, "GB", 2], [1e6, "MB", 2], [1e3, "KB", 2], [1, "B", 0]]);
// As frontend/base/Units.cpp has it.
const timeText = seconds => seconds > 0 && seconds < 1e-7 ? `${(seconds * 1e9).toFixed(2)} ns` : scaled(seconds, [[1, "s", 3], [1e-3, "ms", 3], [1e-6, "µs", 2]]);
const workText = count => scaled(count, [[1e12, "T", 2], [1e9, "G", 2], [1e6, "M", 2], [1, "", 0]]);
const intensityText = cost => cost.intensity === null ? "–" : `${cost.intensity.toFixed(2)} FLOP/B`;
const bytesOf = cost => cost.bytes_read + cost.bytes_written;
const isKnown = cost => cost.bound !== "-"; // of a graph that is called it is not
const summaryOf = cost => !isKnown(cost) ? "a graph of its own" : `${bytesText(bytesOf(cost))} · ${timeText(cost.seconds)} · ${cost.bound}`;
const shortened = (text, most) => text.length > most ? text.slice(0, most - 1) + "…" : text;

//===-- Elements ----------------------------------------------------------===//

// An element with attributes and children; texts become text nodes, never markup.
function make(name, attributes = {}, ...children) {
  const isSvg = ["svg", "g", "rect", "path", "text", "tspan", "title"].includes(name) || attributes.svg;
  const element = isSvg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes))
    if (key === "hue")
      element.style.setProperty("--hue", value);
    else if (key === "width%")
      element.style.width = `${value}%`;
    else if (key === "min-width")
      element.style.minWidth = `${value}px`;
    else if (key !== "svg" && value !== undefined)
      element.setAttribute(key, value);
  element.append(...children.flat().filter(child => child !== undefined && child !== null));
  return element;
}

const link = (id, text) => make("a", {href: `#${id}`}, text);
const joined = (parts, between = ", ") => parts.flatMap((part, n) => n ? [between, part] : [part]);

// Colours go around the circle so that neighbours differ.
const hueOf = kernel => Math.round((212 + 137.5 * kernel) % 360);

//===-- What there is -----------------------------------------------------===//

const kernelsOf = call => data.kernels.flatMap((kernel, n) => kernel.calls.includes(call) ? [n] : []);
const callName = n => shortened(data.calls[n].label, 40);
const boundariesOf = test => data.boundaries.filter(test);
// A tensor that was given by a call is, afterwards, what a kernel with that call gives under its name.
const keptAs = tensor => data.tensors_after.findIndex(kept => kept.name === tensor.name &&
    (tensor.from === null ? kept.from === null : kept.from !== null && data.kernels[kept.from].calls.includes(tensor.from)));
const boundaryTensor = boundary => data.tensors_after.findIndex(
    kept => kept.from === boundary.from && kept.name === boundary.tensor);

const things = new Map(); // by id: {partners, describe, node}

//===-- The two graphs ----------------------------------------------------===//

const ruler = document.createElement("canvas").getContext("2d");
function widthOf(text, isBold) {
  ruler.font = `${isBold ? "600 " : ""}12.5px ${getComputedStyle(document.body).fontFamily}`;
  return ruler.measureText(text).width;
}

function kernelNode(id, title, lines, cost, kernels) {
  const texts = [...lines, summaryOf(cost)];
  const width = Math.max(...texts.map((text, n) => widthOf(text, n < lines.length))) + 26;
  return {id, title, lines: texts, width, height: 14 + 17 * texts.length, kernels, kind: "kernel"};
}

function tensorNode(id, tensor, kind) {
  const name = shortened(tensor.name, 28), note = `${shortened(tensor.type, 26)} · ${bytesText(tensor.bytes)}`;
  const outputs = tensor.outputs.length ? " → output" : "";
  return {id, title: `${tensor.name}: ${tensor.type}, ${bytesText(tensor.bytes)}`, name, note: note + outputs, kind: `tensor ${kind}`,
          width: widthOf(name, true) + widthOf(note + outputs) * .93 + 30, height: 24, isSource: tensor.from === null};
}

// What only one kernel reads of the inputs stands one above the other, so that graphs stay narrow.
function stackOf(members) {
  const gap = 6;
  return {members, gap, isSource: true, width: Math.max(...members.map(member => member.width)),
          height: members.reduce((sum, member) => sum + member.height + gap, -gap)};
}

function graphOf(tensors, calls, tensorNodeOf, callNodeOf) {
  const nodes = [], edges = [], numbers = [];
  const addTensor = n => {
    numbers[n] = nodes.length;
    nodes.push(tensorNodeOf(tensors[n], n));
  };
  const isOwn = n => tensors[n].from === null && tensors[n].to.length === 1;
  tensors.forEach((tensor, n) => tensor.from === null && !isOwn(n) && addTensor(n));
  calls.forEach((call, n) => {
    const own = call.inputs.filter(isOwn);
    if (own.length)
      nodes.push(stackOf(own.map(input => tensorNodeOf(tensors[input], input))));
    const self = nodes.length;
    nodes.push(callNodeOf(call, n));
    if (own.length)
      edges.push([self - 1, self, own.reduce((sum, input) => sum + tensors[input].bytes, 0)]);
    for (const input of call.inputs.filter(input => !isOwn(input)))
      edges.push([numbers[input], self, tensors[input].bytes]);
    for (const output of call.outputs) {
      edges.push([self, nodes.length, tensors[output].bytes]);
      addTensor(output);
    }
  });
  return {nodes, edges};
}

function drawNode(node) {
  if (node.members) {
    let y = node.y - node.height / 2;
    return node.members.map(member => {
      y += member.height + node.gap;
      return drawNode({...member, x: node.x, y: y - node.gap - member.height / 2});
    });
  }
  const {x, y, width, height} = node, left = x - width / 2, top = y - height / 2;
  const box = {x: left, y: top, width, height, rx: node.kernels ? 6 : 12};
  const parts = [make("title", {}, node.title)];
  if (node.kernels) { // a band for each kernel that it is a part of
    const band = width / node.kernels.length;
    node.kernels.forEach((kernel, n) => parts.push(make("rect", {
      class: "band", ...box, x: left + n * band, width: band, rx: node.kernels.length > 1 ? 0 : 6, hue: hueOf(kernel)})));
    parts.push(make("rect", {class: "frame", ...box, hue: hueOf(node.kernels[0])}));
    node.lines.forEach((line, n) => parts.push(make("text", {
      x, y: top + 21 + 17 * n, class: n + 1 < node.lines.length ? "name" : "small"}, line)));
  } else {
    parts.push(make("rect", {class: "frame", ...box}),
               make("text", {x, y: y + 4}, make("tspan", {class: "name"}, node.name), make("tspan", {class: "small", dx: 7}, node.note)));
  }
  const element = make("a", {svg: true, href: `#${node.id}`, id: `node-${node.id}`, class: node.kind, "aria-label": node.title}, parts);
  const hover = isOver => () => lightUp(isOver ? node.id : null);
  element.addEventListener("mouseenter", hover(true));
  element.addEventListener("mouseleave", hover(false));
  element.addEventListener("focus", hover(true));
  element.addEventListener("blur", hover(false));
  things.get(node.id).node = element;
  return element;
}

function draw(pane, label, {nodes, edges}) {
  const {width, height, wires} = layOut(nodes, edges);
  const most = Math.max(...edges.map(edge => edge[2]), 1);
  const paths = wires.map((points, n) => {
    let [from, ...rest] = points, at = from.y + from.height / 2, d = `M${from.x} ${at}`, x = from.x;
    for (const to of rest) {
      const end = to.y - to.height / 2, half = (at + end) / 2;
      d += `C${x} ${half} ${to.x} ${half} ${to.x} ${end}`;
      [x, at] = [to.x, to.y + to.height / 2];
    }
    return make("path", {class: "wire", d, "stroke-width": (1 + 3 * edges[n][2] / most).toFixed(1)});
  });
  const margin = 4;
  pane.append(make("svg", {
    width: width + 2 * margin, height: height + 2 * margin, role: "group", "aria-label": label,
    "min-width": .65 * width, viewBox: `${-margin} ${-margin} ${width + 2 * margin} ${height + 2 * margin}`}, paths, nodes.flatMap(drawNode)));
}

function drawGraphs() {
  data.calls.forEach((call, n) => things.set(`call-${n + 1}`, {
    partners: kernelsOf(n).map(kernel => `kernel-${kernel + 1}`), describe: () => describeCall(n)}));
  data.kernels.forEach((kernel, n) => things.set(`kernel-${n + 1}`, {
    partners: kernel.calls.map(call => `call-${call + 1}`), describe: () => describeKernel(n)}));
  data.tensors_after.forEach((tensor, n) => things.set(`kept-${n + 1}`, {
    partners: [], describe: () => describeTensor(data.tensors.find(other => keptAs(other) === n) ?? tensor)}));
  data.tensors.forEach((tensor, n) => {
    const kept = keptAs(tensor), id = `tensor-${n + 1}`;
    things.set(id, {partners: kept < 0 ? [] : [`kept-${kept + 1}`], describe: () => describeTensor(tensor)});
    if (kept >= 0)
      things.get(`kept-${kept + 1}`).partners.push(id);
  });
  const isBoundary = n => data.boundaries.some(boundary => boundaryTensor(boundary) === n);
  draw(place("before"), "The graph before fusion", graphOf(data.tensors, data.calls,
    (tensor, n) => tensorNode(`tensor-${n + 1}`, tensor, keptAs(tensor) < 0 ? "gone" : isBoundary(keptAs(tensor)) ? "kept" : ""),
    (call, n) => kernelNode(`call-${n + 1}`, `${call.label}, ${summaryOf(call.cost)}`, [shortened(call.label, 34)], call.cost, kernelsOf(n))));
  draw(place("after"), "The graph after fusion", graphOf(data.tensors_after, data.kernels,
    (tensor, n) => tensorNode(`kept-${n + 1}`, tensor, isBoundary(n) ? "kept" : ""),
    (kernel, n) => {
      const names = kernel.calls.map(call => shortened(data.calls[call].label, 34)), most = 6;
      const lines = names.length > most ? [...names.slice(0, most - 1), `and ${names.length - most + 1} more`] : names;
      return kernelNode(`kernel-${n + 1}`, `kernel ${n + 1}: ${names.join(", ")}; ${summaryOf(kernel.cost)}`, lines, kernel.cost, [n]);
    }));
}

//===-- What is selected --------------------------------------------------===//

const row = (head, ...cell) => make("tr", {}, make("th", {scope: "row"}, head), make("td", {}, ...cell));

function costTable(cost, hue) {
  if (!isKnown(cost))
    return make("p", {}, "It is a graph of its own: what its kernels cost is not counted here.");
  const most = Math.max(cost.launch_seconds, cost.memory_seconds, cost.compute_seconds);
  const meter = seconds => [make("span", {class: "meter", "aria-hidden": "true"}, make("i", {"width%": 100 * seconds / most, hue})),
                            timeText(seconds)];
  return make("table", {},
    row("time", `${timeText(cost.seconds)}, bound by ${cost.bound}`),
    cost.measured_seconds === undefined ? [] : row("measured", timeText(cost.measured_seconds)),
    row("memory", meter(cost.memory_seconds)), row("compute", meter(cost.compute_seconds)), row("launch", meter(cost.launch_seconds)),
    row("bytes", `${bytesText(cost.bytes_read)} read, ${bytesText(cost.bytes_written)} written`),
    row("operations", workText(cost.operations)), row("intensity", intensityText(cost)));
}

function excerpt(source) {
  const lines = source.text.replace(/\n$/, "").split("\n");
  return [make("h3", {}, `${source.file}:${source.line}`),
          make("pre", {class: "source", tabindex: 0}, joined(lines.map((line, n) => make("code", {},
            make("span", {class: "number"}, String(source.line + n)), line)), "\n"))];
}

const irOf = (symbol, title) => make("details", {}, make("summary", {}, title), make("pre", {tabindex: 0}, data.ir[symbol] ?? ""));

function tensorLinks(tensors, all, prefix) {
  return tensors.length ? joined(tensors.map(n => link(`${prefix}-${n + 1}`, shortened(all[n].name, 30)))) : "nothing";
}

// What was tried with calls, with what came of it.
function trials(calls) {
  const touches = entry => [...entry.first, ...entry.second].some(call => calls.includes(call));
  const entries = data.ledger.filter(entry => entry.verdict !== "fused" && touches(entry));
  if (!entries.length)
    return [];
  const names = list => joined(list.map(call => link(`call-${call + 1}`, callName(call))));
  return [make("details", {}, make("summary", {}, `What was tried and not done (${entries.length})`),
    make("ul", {}, entries.map(entry => make("li", {}, names(entry.first), entry.transform === "merge" ? " with " : " into ",
      names(entry.second), `: ${entry.reason}`, entry.hint ? make("p", {class: "hint"}, entry.hint) : ""))))];
}

function reasons(boundary) {
  const other = boundary.reason ?? "the search has not looked at it";
  return [make("p", {}, other), boundary.witness ? make("p", {class: "witness"}, boundary.witness.text) : "",
          boundary.hint ? make("p", {class: "hint"}, boundary.hint) : "",
          boundary.place ? make("p", {class: "place"}, boundary.place) : ""];
}

function boundaryList(list) {
  return list.flatMap(boundary => [
    make("h3", {}, `${boundary.tensor} stays, ${bytesText(boundary.bytes)}, from `, link(`kernel-${boundary.from + 1}`, `kernel ${boundary.from + 1}`),
         " to ", link(`kernel-${boundary.to + 1}`, `kernel ${boundary.to + 1}`)),
    ...reasons(boundary)]);
}

function describeCall(n) {
  const call = data.calls[n], source = data.sources[n], kernels = kernelsOf(n);
  return [make("p", {class: "title"}, call.label), make("p", {class: "place"}, call.place),
    make("p", {}, call.gone ? `is in no kernel: ${call.gone}` : kernels.length > 1 ? "computed in " : "becomes part of ",
         joined(kernels.map(kernel => link(`kernel-${kernel + 1}`, `kernel ${kernel + 1}`)))),
    make("p", {}, "reads ", tensorLinks(call.inputs, data.tensors, "tensor"), "; gives ", tensorLinks(call.outputs, data.tensors, "tensor")),
    costTable(call.cost, hueOf(kernels[0] ?? 0)), excerpt(source.call), source.kernel ? excerpt(source.kernel) : [],
    irOf(call.callee, `IR of ${call.callee}`), trials([n])];
}

function describeKernel(n) {
  const kernel = data.kernels[n], before = kernel.calls.map(call => data.calls[call].cost);
  const sum = key => before.reduce((total, cost) => total + cost[key], 0);
  const saved = before.length > 1 ? [make("p", {}, `instead of ${plural(before.length, "kernel")} with `
    + `${bytesText(sum("bytes_read") + sum("bytes_written"))} and ${timeText(sum("seconds"))}`)] : [];
  return [make("p", {class: "title"}, `kernel ${n + 1}`), make("p", {class: "place"}, kernel.symbol),
    make("ul", {}, kernel.calls.map(call => make("li", {}, link(`call-${call + 1}`, callName(call))))), saved,
    make("p", {}, "reads ", tensorLinks(kernel.inputs, data.tensors_after, "kept"), "; gives ", tensorLinks(kernel.outputs, data.tensors_after, "kept")),
    costTable(kernel.cost, hueOf(n)),
    boundaryList(boundariesOf(boundary => boundary.from === n || boundary.to === n)),
    irOf(kernel.symbol, "IR of the kernel"),
    kernel.calls.length > 1 ? [...new Set(kernel.calls.map(call => data.calls[call].callee))].map(callee => irOf(callee, `IR of ${callee}, before`)) : [],
    trials(kernel.calls)];
}

function describeTensor(tensor) {
  const kept = keptAs(tensor), boundaries = boundariesOf(boundary => boundaryTensor(boundary) === kept);
  const calls = list => joined(list.map(call => link(`call-${call + 1}`, callName(call))));
  const gone = kept < 0 ? [make("p", {}, "It never reaches memory: ", tensor.to.length
    ? "the kernels that read it compute it themselves." : "nobody reads it.")] : [];
  return [make("p", {class: "title"}, tensor.name), make("p", {}, make("code", {}, tensor.type)),
    make("table", {}, row("extents", tensor.extents.join(" × ") || "–"), row("bytes", bytesText(tensor.bytes)),
      row("given by", tensor.from === null ? "the caller" : calls([tensor.from])),
      row("read by", tensor.to.length ? calls(tensor.to) : "nobody"),
      tensor.outputs.length ? row("output", tensor.outputs.join(", ")) : []),
    gone, kept < 0 ? [] : boundaryList(boundaries)];
}

//===-- Light and selection -----------------------------------------------===//

function lightUp(id) {
  for (const {node} of things.values())
    node?.classList.remove("lit");
  document.querySelector("main").classList.toggle("hovers", id !== null);
  if (id !== null)
    for (const other of [id, ...things.get(id).partners])
      things.get(other).node?.classList.add("lit");
}

// Within its pane, so that the page stays where it is.
function reveal(node) {
  const pane = node.closest(".pane"), box = node.getBoundingClientRect(), frame = pane.getBoundingClientRect();
  if (box.top < frame.top || box.bottom > frame.bottom)
    pane.scrollTop += (box.top + box.bottom - frame.top - frame.bottom) / 2;
  if (box.left < frame.left || box.right > frame.right)
    pane.scrollLeft += (box.left + box.right - frame.left - frame.right) / 2;
}

function select() {
  const id = decodeURIComponent(location.hash.slice(1)), thing = things.get(id), panel = place("panel");
  for (const {node} of things.values()) {
    node?.classList.remove("selected", "partner");
    node?.removeAttribute("aria-current");
  }
  if (!thing) {
    panel.replaceChildren(make("p", {class: "title"}, "What is what"),
      make("p", {}, "Boxes are kernels: those of a colour on the left become the one of that colour on the right. Between them are tensors: "
        + "dashed ones never reach memory any more, and those with an orange line stay between two kernels."),
      make("p", {}, "Point at one to see its counterpart. Click it, or go there with Tab and Enter, for its source, IR, cost, and why it stays apart; Escape comes back here."));
    return;
  }
  for (const [index, other] of [id, ...thing.partners].entries()) {
    const node = things.get(other).node;
    node.classList.add(index ? "partner" : "selected");
    if (!index)
      node.setAttribute("aria-current", "true");
    reveal(node);
  }
  panel.replaceChildren(...thing.describe().flat(3));
  panel.scrollTop = 0;
}

//===-- Around the graphs -------------------------------------------------===//

function drawHead() {
  document.querySelector("h1").append(data.graph);
  place("setting").append(`planned for ${[data.device, ...data.dims].join(", ")}. ${[data.assumed, data.warning].filter(text => text).map(text => `${text[0].toUpperCase()}${text.slice(1)}. `).join("")}Times are predicted${data.measured_on
    ? `; those measured are medians on ${data.measured_on}, with random floats` : ", nothing has run"}.`);
  const total = (name, before, after) => make("div", {}, make("dt", {}, name),
    make("dd", {}, make("span", {class: "was"}, before), " → ", after));
  const {before, after} = data;
  place("totals").append(
    total("kernels", String(data.calls.length), String(data.kernels.length)),
    total("bytes", bytesText(bytesOf(before)), bytesText(bytesOf(after))),
    total("peak memory between kernels", bytesText(before.peak_bytes_between), bytesText(after.peak_bytes_between)),
    total("time", timeText(before.seconds), timeText(after.seconds)),
    ...data.measured_on ? [total("measured", timeText(before.measured_seconds), timeText(after.measured_seconds)),
      total("to fuse and compile", timeText(before.compile_seconds), `${timeText(after.fuse_seconds + after.compile_seconds)}, ${data.earned_back.text}`)] : [],
    total("intensity", intensityText(before), intensityText(after)),
    total("bound", before.bound, after.bound));
  const most = Math.max(before.seconds, after.seconds) || 1;
  const bar = parts => make("div", {class: "bar"}, parts.map(([id, seconds, kernel, title]) => make("a", {
    href: `#${id}`, title: `${title}: ${timeText(seconds)}`, "aria-label": `${title}: ${timeText(seconds)}`, "width%": 100 * seconds / most, hue: hueOf(kernel)})));
  place("times").append(
    make("span", {}, "time before"), bar(data.calls.map((call, n) => [`call-${n + 1}`, call.cost.seconds, kernelsOf(n)[0] ?? 0, call.label])),
    make("span", {}, "after"), bar(data.kernels.map((kernel, n) => [`kernel-${n + 1}`, kernel.cost.seconds, n, `kernel ${n + 1}`])));
}

/// A table of tensors and the two kernels that they keep apart, those with most to gain first. Those where nothing is to be changed are counted.
function drawPairs(section, pairs, [first, second], nameOf) {
  const head = make("tr", {}, ["saves at most", "bytes", "tensor", first, second, "why"].map((word, n) => make("th", {scope: "col", class: n > 1 ? "" : "figure"}, word)));
  const kernel = n => make("td", {}, link(`kernel-${n + 1}`, `kernel ${n + 1}`));
  const open = pairs.filter(pair => !pair.best_apart), closed = pairs.filter(pair => pair.best_apart);
  const rows = open.map(pair => make("tr", {},
    make("td", {class: "figure"}, timeText(pair.gain_seconds)), make("td", {class: "figure"}, bytesText(pair.bytes)),
    make("td", {}, nameOf(pair)), kernel(pair[first]), kernel(pair[second]),
    make("td", {}, reasons(pair))));
  if (rows.length)
    place(section).append(make("table", {}, make("thead", {}, head), make("tbody", {}, rows)));
  if (closed.length)
    place(section).append(make("p", {}, `${plural(closed.length, open.length ? "more tensor" : "tensor")} (${bytesText(closed.reduce((sum, pair) => sum + pair.bytes, 0))}), `
      + "where nothing is to be changed: as one, their kernels would take longer."));
  if (!pairs.length)
    place(section).append(make("p", {}, "nothing"));
}

drawHead();
drawGraphs();
drawPairs("boundaries", data.boundaries, ["from", "to"], boundary => link(`kept-${boundaryTensor(boundary) + 1}`, shortened(boundary.tensor, 40)));
drawPairs("reads", data.shared_reads, ["first", "second"], read => shortened(read.tensor, 40));
select();
addEventListener("hashchange", select);
addEventListener("keydown", event => {
  if (event.key === "Escape" && location.hash)
    location.hash = "";
});
