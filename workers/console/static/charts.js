// Charts that can be pointed at and zoomed, drawn from the figures that the API gives. Without script their pictures stay.
"use strict";

const EVERY_MS = 60000;  // a sample is stored each minute

function css(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }

function shortest(value) {
  return value == null ? "–" : value >= 100 || Number.isInteger(value) ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(3)));
}

function plot(figure, section, found, times) {
  const place = figure.querySelector(".axes"), marks = figure.querySelector(".marks"), drawn = [...figure.querySelectorAll(".drawing .line")];
  const names = figure.dataset.figures.split(" "), unit = Number(figure.dataset.unit);
  const keys = [...figure.querySelectorAll("figcaption .key")].map((key) => key.textContent);
  const told = document.createElement("output");
  told.className = "told";

  function dateOf(at) { return uPlot.tzDate(new Date(at * 1000), section.dataset.zone); }

  function data(from, at) { return [at, ...names.map((name) => at.map((_, n) => from[name][n] == null ? null : from[name][n] / unit))]; }

  function tell(chart) {
    const newest = chart.data[0].findLastIndex((_, n) => names.some((_, k) => chart.data[k + 1][n] != null));
    const n = chart.cursor.idx ?? newest;
    if (n < 0) return;
    const at = uPlot.fmtDate({ hour: "{HH}:{mm}", years: "{YYYY}-{MM}-{DD}" }[section.dataset.range] || "{MM}-{DD} {HH}:{mm}")(dateOf(chart.data[0][n]));
    told.textContent = [at, ...names.map((_, k) => `${keys[k] || ""} ${shortest(chart.data[k + 1][n])}`.trim())].join(" · ");
  }

  function moveMarks(chart) {
    const at = chart.data[0], whole = at[at.length - 1] - at[0], { min, max } = chart.scales.x;
    if (marks && whole && max > min) marks.setAttribute("viewBox", `${(1000 * (min - at[0])) / whole} 0 ${(1000 * (max - min)) / whole} 300`);
  }

  const axis = { stroke: () => css("--dim"), grid: { stroke: () => css("--line"), width: 1 }, ticks: { show: false }, font: "12px system-ui", gap: 4 };
  const chart = new uPlot({
    width: place.clientWidth, height: place.clientHeight, legend: { show: false },
    tzDate: dateOf,
    cursor: { sync: { key: "time" }, drag: { x: true, y: false, dist: 5 }, y: false },
    scales: { y: { range: (_, low, most) => [0, most > 0 ? most * 1.05 : 1] } },
    padding: [16, 10, 0, 0],
    axes: [{ ...axis, size: 22, values: [[86400, "{MM}-{DD}"], [60, "{HH}:{mm}"], [1, "{HH}:{mm}:{ss}"]].map((each) => [...each, ...Array(6).fill(null), 1]) }, { ...axis, size: 46, values: (_, ticks) => ticks.map(shortest) }],
    series: [{}, ...drawn.map((line) => ({
      stroke: () => getComputedStyle(line).stroke, width: 1.6, dash: line.classList.contains("dashed") ? [5, 4] : [], points: { size: 5 },
    }))],
    hooks: { setCursor: [tell], setData: [tell], setScale: [moveMarks], ready: [(made) => { if (marks) made.over.append(marks); made.over.append(told); tell(made); }] },
  }, data(found, times), (made, start) => { place.replaceChildren(made.root, ...place.children); place.classList.add("plotted"); start(); });
  new ResizeObserver(() => chart.setSize({ width: place.clientWidth, height: place.clientHeight })).observe(place);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => chart.redraw());
  return (from, at) => {
    const { min, max } = chart.scales.x, old = chart.data[0], isZoomed = min > old[0] || max < old[old.length - 1];
    chart.setData(data(from, at), !isZoomed);
  };
}

async function drawCharts(section) {
  let charts = null, tag = "";
  async function draw() {
    if (document.hidden) return;
    const answer = await fetch(section.dataset.series, { headers: tag ? { "If-None-Match": tag } : {}, redirect: "error" });
    if (!answer.ok) return;
    tag = answer.headers.get("ETag") || "";
    const found = await answer.json(), begin = Date.parse(found.since) / 1000;
    const times = found.fetched.map((_, n) => begin + n * found.step_s);
    if (charts) for (const renew of charts) renew(found, times);
    else charts = [...section.querySelectorAll("figure[data-figures]")].map((figure) => plot(figure, section, found, times));
  }
  const drawOrWait = () => draw().catch(() => {});  // the picture stays, and the next one may come
  await drawOrWait();
  setInterval(drawOrWait, EVERY_MS);
  document.addEventListener("visibilitychange", drawOrWait);
}

document.querySelectorAll("[data-series]").forEach(drawCharts);
