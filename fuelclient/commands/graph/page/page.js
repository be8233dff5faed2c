"use strict";
// Draws the data of this page, and answers to pointer and keys. Names and values come from files that anyone may have
// written: they only ever become text nodes and attributes, never markup.
const data = JSON.parse(document.getElementById("data").textContent);
const WIDE = 200, HIGH = 34, BOX_WIDE = 168, BOX_HIGH = 24;
const root = document.documentElement;
const byId = (id) => document.getElementById(id);
const graph = byId("graph");

function svg(parent, name, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}

function html(parent, name, text, kind) {
  const made = document.createElement(name);
  made.textContent = text;
  if (kind) made.className = kind;
  parent.append(made);
  return made;
}

const short = (text) => (text.length > 24 ? text.slice(0, 15) + "…" + text.slice(-8) : text);
const left = (column) => column * WIDE;
const middle = (row) => row * HIGH;

// The picture. An edge is a curve through its bends.
const world = svg(graph, "g", {});
const columns = Math.max(0, ...data.tasks.map((task) => task.column)) + 1;
for (const band of data.bands) {
  if (!band.name) continue;
  svg(world, "rect", {class: "band", x: -20, y: middle(band.top) - 4, width: left(columns), height: middle(band.height) + 8});
  svg(world, "text", {class: "bandname", x: -14, y: middle(band.top) - 10}, band.name);
}
const edges = data.edges.map(([from, to, bends, back, cycle]) => {
  const start = data.tasks[from], end = data.tasks[to];
  const points = [[left(start.column) + BOX_WIDE, middle(start.row)]];
  bends.forEach((row, index) => points.push([left(start.column + 1 + index) + BOX_WIDE / 2, middle(row)]));
  points.push([left(end.column), middle(end.row)]);
  const path = points.map(([x, y], index) => {
    if (!index) return `M${x},${y}`;
    const [oldX, oldY] = points[index - 1], half = (x + oldX) / 2;
    return `C${half},${oldY} ${half},${y} ${x},${y}`;
  });
  return {from, to, shape: svg(world, "path", {class: `edge ${back} ${cycle}`, d: path.join("")})};
});
const boxes = data.tasks.map((task, number) => {
  const box = svg(world, "g", {
    class: `task ${task.kind}${task.changed ? " changed" : ""}`, tabindex: 0, role: "button",
    transform: `translate(${left(task.column)},${middle(task.row) - BOX_HIGH / 2})`,
  });
  svg(box, "title", {}, `${task.name}\n${task.layer} ${task.place}`);
  svg(box, "rect", {width: BOX_WIDE, height: BOX_HIGH, rx: task.kind === "stage" ? 0 : 5});
  svg(box, "text", {x: 6, y: 16}, short(task.name));
  box.addEventListener("pointerenter", () => trace(number));
  box.addEventListener("pointerleave", () => trace(-1));
  box.addEventListener("click", () => show(number));
  box.addEventListener("keydown", (event) => { if (event.key === "Enter") show(number); });
  return box;
});

// Pan and zoom.
const view = {x: 0, y: 0, scale: 1};
function move() { world.setAttribute("transform", `translate(${view.x},${view.y}) scale(${view.scale})`); }
function zoom(factor, x, y) {
  const scale = Math.min(4, Math.max(0.02, view.scale * factor));
  view.x = x - (x - view.x) * scale / view.scale;
  view.y = y - (y - view.y) * scale / view.scale;
  view.scale = scale;
  move();
}
function fit(whole) {
  const box = world.getBBox(), size = graph.getBoundingClientRect();
  const wide = whole ? size.width / (box.width + 40) : 1;
  view.scale = Math.min(1, wide, size.height / (box.height + 40)) || 1;
  view.x = 20 - box.x * view.scale;
  view.y = 20 - box.y * view.scale;
  move();
}
function centre(number) {
  const task = data.tasks[number], size = graph.getBoundingClientRect();
  view.scale = Math.max(view.scale, 0.8);
  view.x = size.width / 2 - (left(task.column) + BOX_WIDE / 2) * view.scale;
  view.y = size.height / 2 - middle(task.row) * view.scale;
  move();
}
graph.addEventListener("wheel", (event) => {
  event.preventDefault();
  const size = graph.getBoundingClientRect();
  zoom(Math.exp(-event.deltaY / 500), event.clientX - size.left, event.clientY - size.top);
}, {passive: false});
let dragged = false;
graph.addEventListener("pointermove", (event) => {
  dragged = event.buttons === 1;
  if (!dragged) return;
  view.x += event.movementX;
  view.y += event.movementY;
  move();
});
byId("fit").addEventListener("click", () => fit(true));

// Everything before and after a task.
function reach(number, from, to) {
  const seen = new Set([number]);
  for (const task of seen) for (const edge of edges) if (edge[from] === task) seen.add(edge[to]);
  return seen;
}
function trace(number) {
  world.classList.toggle("tracing", number >= 0);
  const before = number < 0 ? new Set() : reach(number, "to", "from");
  const after = number < 0 ? new Set() : reach(number, "from", "to");
  boxes.forEach((box, other) => box.classList.toggle("near", before.has(other) || after.has(other)));
  for (const {from, to, shape} of edges) {
    shape.classList.toggle("near", (before.has(from) && before.has(to)) || (after.has(from) && after.has(to)));
  }
}

// Who set what.
function show(number) {
  const details = byId("details"), task = data.tasks[number];
  details.hidden = false;
  details.replaceChildren();
  html(details, "h2", task.name);
  html(details, "p", `${task.type}, ${task.nodes} nodes, generation ${task.generation || "none"}, layer ${task.layer}`);
  const list = html(details, "dl", "");
  for (const [path, value, layer, place, lost] of task.attributes) {
    html(list, "dt", path);
    const row = html(list, "dd", value);
    html(row, "div", `${layer} ${place}`, "place");
    for (const [old, from, where] of lost) {
      html(row, "div", old, "lost");
      html(row, "div", `${from} ${where}`, "place");
    }
  }
}

// Search and filters.
let at = -1;
function search(step) {
  const word = byId("search").value.trim().toLowerCase();
  const hits = word ? data.tasks.flatMap((task, number) => (task.name.toLowerCase().includes(word) ? [number] : [])) : [];
  boxes.forEach((box, number) => box.classList.toggle("found", hits.includes(number)));
  at = hits.length ? (step ? (at + step) % hits.length : 0) : -1;
  byId("found").textContent = word ? `${at + 1}/${hits.length}` : "";
  if (hits.length) centre(hits[at]);
}
byId("search").addEventListener("input", () => search(0));
byId("search").addEventListener("keydown", (event) => { if (event.key === "Enter") search(1); });
const filters = {role: (task) => task.roles, stage: (task) => [task.stage], layer: (task) => task.layers};
function filter() {
  const kept = data.tasks.map((task) => Object.entries(filters).every(([name, values]) => {
    const wanted = byId(name).value;
    return !wanted || values(task).includes(wanted);
  }));
  boxes.forEach((box, number) => box.classList.toggle("filtered", !kept[number]));
  for (const {from, to, shape} of edges) shape.classList.toggle("filtered", !(kept[from] && kept[to]));
}
for (const [name, values] of Object.entries(filters)) {
  const choice = byId(name);
  html(choice, "option", `every ${name}`).value = "";
  for (const value of [...new Set(data.tasks.flatMap(values))].filter(Boolean).sort()) html(choice, "option", value);
  choice.addEventListener("change", filter);
}

// A run: bars for each node, and the tasks in the colours that they had at a moment of it.
const BAR_WIDE = 1200, BAR_HIGH = 18, NAMES = 110;
function replay(run) {
  byId("run").hidden = false;
  const bars = run.nodes.flatMap(([, bars]) => bars);
  const across = (seconds) => NAMES + seconds / (run.seconds || 1) * (BAR_WIDE - NAMES);
  const chart = svg(byId("gantt"), "svg", {viewBox: `0 0 ${BAR_WIDE} ${run.nodes.length * BAR_HIGH}`, width: "100%"});
  run.nodes.forEach(([name, own], row) => {
    const y = row * BAR_HIGH;
    svg(chart, "text", {x: 0, y: y + 13}, name);
    for (const [task, numbers, word, idle, ready, begin, end, critical] of own) {
      const part = (from, to, kind, text) => {
        if (to <= from && kind.startsWith("wait")) return;
        const width = Math.max(1, across(to) - across(from));
        const shape = svg(chart, "rect", {class: kind, x: across(from), y: y + 3, width, height: BAR_HIGH - 6});
        svg(shape, "title", {}, text);
        if (numbers.length) shape.addEventListener("click", () => { show(numbers[0]); centre(numbers[0]); });
      };
      part(idle, Math.min(ready, begin), "wait", `${task} waits for predecessors`);
      part(Math.max(idle, ready), begin, "wait slot", `${task} waits for a free slot`);
      const kind = word === "error" || word === "interrupted" ? "error" : word === "running" ? word : "ready";
      part(begin, end, `bar ${kind}${critical ? " critical" : ""}`, `${task}: ${word}, ${(end - begin).toFixed(1)} s`);
    }
  });
  const line = svg(chart, "line", {class: "now", y1: 0, y2: run.nodes.length * BAR_HIGH});
  const time = byId("time");
  time.max = run.seconds;
  function at(moment) {
    const states = new Map();
    const rank = {ready: 1, pending: 2, running: 3, error: 4};
    for (const [, numbers, word, , , begin, end] of bars) {
      const failed = word === "error" || word === "interrupted";
      const state = moment < begin ? "pending" : moment < end ? "running" : failed ? "error" : "ready";
      for (const number of numbers) {
        if (rank[state] > (rank[states.get(number)] || 0)) states.set(number, state);
      }
    }
    boxes.forEach((box, number) => {
      for (const state of Object.keys(rank)) box.classList.toggle(state, states.get(number) === state);
      box.classList.toggle("passed", !states.has(number));
    });
    for (const end of ["x1", "x2"]) line.setAttribute(end, across(moment));
    byId("clock").textContent = `${moment.toFixed(1)} of ${run.seconds.toFixed(1)} s`;
  }
  world.classList.add("playing");
  time.addEventListener("input", () => at(Number(time.value)));
  let timer = 0;
  byId("play").addEventListener("click", () => {
    const step = run.seconds / 200;
    if (Number(time.value) >= run.seconds) time.value = 0;
    clearInterval(timer);
    timer = timer ? 0 : setInterval(() => {
      time.value = Number(time.value) + step;
      at(Number(time.value));
      if (Number(time.value) >= run.seconds) { clearInterval(timer); timer = 0; }
      byId("play").textContent = timer ? "Pause" : "Play";
    }, 100);
    byId("play").textContent = timer ? "Pause" : "Play";
  });
  time.value = run.seconds;
  at(run.seconds);
}
if (data.run) replay(data.run);

function dark(on) {
  root.classList.toggle("dark", on);
  byId("dark").setAttribute("aria-pressed", String(on));
}
byId("dark").addEventListener("click", () => dark(!root.classList.contains("dark")));
dark(window.matchMedia("(prefers-color-scheme: dark)").matches);
fit(false);
