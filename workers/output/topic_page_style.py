"""The style sheet of a topic's report in HTML; nothing in it is loaded from anywhere."""

STYLE = """
:root {
  color-scheme: light dark;
  --paper: #f6f5f1; --card: #fffefb; --line: #e4e1d8; --ink: #1c2321; --soft: #5d6663;
  --faint: #8b928f; --story: #0b7a6b; --story-soft: #0b7a6b24; --copy: #d08a1d;
  --copy-soft: #d08a1d33; --bad: #b3402e; --shade: 0 1px 2px #0000000d;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #121615; --card: #1a201e; --line: #2c3431; --ink: #e9ece9; --soft: #a5aeaa;
    --faint: #7d8783; --story: #3fc7b1; --story-soft: #3fc7b12e; --copy: #e9b253;
    --copy-soft: #e9b25333; --bad: #ee8f7d; --shade: none;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "PingFang SC", "Hiragino Sans GB",
    "Microsoft YaHei", "Noto Sans CJK SC", "Noto Sans SC", sans-serif;
  -webkit-text-size-adjust: 100%; overflow-wrap: anywhere; font-variant-numeric: tabular-nums;
}
main { max-width: 1480px; margin: 0 auto; padding: clamp(16px, 3vw, 48px); }
a { color: inherit; text-decoration-color: var(--faint); text-underline-offset: .18em; }
a:hover { color: var(--story); text-decoration-color: currentColor; }
h1, h2, h3, p { margin: 0; }
h1 { font-size: clamp(2rem, 5vw, 3.4rem); line-height: 1.1; letter-spacing: -.02em; }
h2 { font-size: 1.15rem; letter-spacing: -.005em; }
h3 { font-size: 1rem; line-height: 1.4; font-weight: 600; }
.eyebrow {
  color: var(--story); font-size: .78rem; font-weight: 700; letter-spacing: .12em;
  text-transform: uppercase;
}
header { display: grid; gap: 14px; margin-bottom: clamp(20px, 3vw, 36px); }
.words { display: flex; flex-wrap: wrap; gap: 8px; padding: 0; margin: 0; list-style: none; }
.words li, .badge {
  border: 1px solid var(--line); border-radius: 999px; padding: 2px 12px; background: var(--card);
  font-size: .9rem;
}
.words .without { color: var(--bad); text-decoration: line-through; }
.badge { font-size: .78rem; padding: 1px 10px; color: var(--soft); white-space: nowrap; }
.badge.copy { color: var(--copy); border-color: currentColor; background: none; }
.badge.bad { color: var(--bad); border-color: currentColor; background: none; }
.quiet { color: var(--soft); font-size: .9rem; }
.numbers {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(min(150px, 45%), 1fr)); gap: 12px;
  margin: 0 0 clamp(16px, 2vw, 24px); padding: 0;
}
.number, section {
  background: var(--card); border: 1px solid var(--line); border-radius: 14px;
  box-shadow: var(--shade);
}
.number { padding: 14px 18px; display: grid; align-content: start; }
.number dt { color: var(--soft); font-size: .85rem; }
.number dd {
  margin: 0; font-size: clamp(1.5rem, 2.6vw, 2.1rem); font-weight: 650; line-height: 1.2;
}
.number .quiet { font-size: .8rem; font-weight: 400; }
.number.main { background: var(--story); border-color: var(--story); color: var(--card); }
.number.main dt, .number.main .quiet { color: inherit; opacity: .85; }
.rooms {
  display: grid; gap: clamp(16px, 2vw, 24px);
  grid-template-columns: repeat(12, minmax(0, 1fr));
}
section { grid-column: 1 / -1; padding: clamp(16px, 2vw, 26px); min-width: 0; }
.stack {
  grid-column: 1 / -1; display: grid; gap: inherit; align-content: start; min-width: 0;
}
section > .quiet { margin-top: 2px; }
@media (min-width: 1080px) {
  .wide { grid-column: span 7; }
  .narrow { grid-column: span 5; }
}
.chart {
  display: grid; grid-template-columns: auto minmax(0, 1fr); grid-template-rows: auto 1.6em;
  column-gap: 10px; margin-top: 18px;
}
.plot { height: clamp(170px, 24vw, 270px); }
.plot svg { display: block; width: 100%; height: 100%; overflow: visible; }
.low .plot { height: clamp(90px, 9vw, 130px); }
.y {
  position: relative; min-width: 1.5em; white-space: nowrap; font-size: .75rem;
  color: var(--faint);
}
.y span { position: absolute; right: 0; transform: translateY(50%); }
.x { grid-column: 2; position: relative; font-size: .75rem; color: var(--faint); }
.x span { position: absolute; top: .5em; transform: translateX(-50%); white-space: nowrap; }
.x .first { transform: none; }
.x .last { transform: translateX(-100%); }
.grid { stroke: var(--line); fill: none; vector-effect: non-scaling-stroke; }
.stories-area { fill: var(--story-soft); }
.copies-area { fill: var(--copy-soft); }
.stories-line, .copies-line {
  fill: none; stroke: var(--story); stroke-width: 2.5; vector-effect: non-scaling-stroke;
  stroke-linejoin: round;
}
.copies-line { stroke: var(--copy); stroke-width: 1.5; stroke-dasharray: 5 4; }
.stories-bar { fill: var(--story); }
.copies-bar { fill: var(--copy); opacity: .75; }
.column { fill: transparent; }
g:hover > .column { fill: var(--story-soft); }
.key {
  display: flex; flex-wrap: wrap; gap: 4px 18px; margin-top: 12px; font-size: .85rem;
  color: var(--soft);
}
.key span::before {
  content: ""; display: inline-block; width: 10px; height: 10px; border-radius: 3px;
  margin-right: 7px; background: var(--story);
}
.key .copy::before { background: var(--copy); }
.list { list-style: none; margin: 10px 0 0; padding: 0; }
.list > li { padding: 13px 0; border-top: 1px solid var(--line); display: grid; gap: 3px; }
.list > li:first-child { border-top: 0; }
.list a { text-decoration: none; }
.list a:hover { text-decoration: underline; }
.line { display: flex; flex-wrap: wrap; gap: 3px 10px; align-items: center; }
.meter {
  width: 54px; height: 6px; border-radius: 3px; background: var(--line); overflow: hidden;
  flex: none;
}
.meter i { display: block; height: 100%; background: var(--story); }
details { font-size: .9rem; margin-top: 2px; }
summary { cursor: pointer; color: var(--soft); }
.urls {
  list-style: none; margin: 8px 0 0; padding: 0 0 0 14px; border-left: 2px solid var(--line);
}
.urls li { padding: 4px 0; }
table { width: 100%; border-collapse: collapse; margin-top: 12px; font-size: .92rem; }
th { font-weight: 500; color: var(--faint); font-size: .8rem; text-align: right; }
th:first-child, td:first-child { text-align: left; }
th, td { padding: 7px 0 7px 10px; border-bottom: 1px solid var(--line); text-align: right; }
th:first-child, td:first-child { padding-left: 0; }
td .badge { margin-left: 8px; }
tr:last-child td { border-bottom: 0; }
.share {
  display: flex; height: 6px; border-radius: 3px; background: var(--line); overflow: hidden;
  margin-top: 5px;
}
.share i { background: var(--story); }
.share i + i { background: var(--copy); }
footer { margin-top: 28px; color: var(--faint); font-size: .82rem; }
@media print {
  body { background: none; }
  .number, section { box-shadow: none; break-inside: avoid; }
}
"""
