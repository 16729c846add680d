// Controls of the page, and what they draw.

const DATA = JSON.parse(document.getElementById("report-data").textContent);
const byId = (id) => document.getElementById(id);

// Colours: as selected, else those of the system; always light in print.
const system = matchMedia("(prefers-color-scheme: dark)");
const paper = matchMedia("print");
function setColours() {
  const dark = !paper.matches && (byId("theme").value || (system.matches ? "dark" : "light")) === "dark";
  document.documentElement.dataset.theme = dark ? "dark" : "light";
}
byId("theme").addEventListener("change", setColours);
system.addEventListener("change", setColours);
paper.addEventListener("change", setColours);
setColours();

for (const table of document.querySelectorAll("table.sortable")) makeSortable(table);

// Which runs are listed: those of a number of the comparison, and among them those that contain every search term.
let listed = null;
function list() {
  const terms = byId("find").value.toLowerCase().split(/\s+/).filter(Boolean);
  const count = showRuns(listed, terms);
  const all = document.querySelectorAll("#run-table tbody tr").length;
  byId("found").textContent = count < all ? `${count} of ${all} runs` : all === 1 ? "1 run" : `${all} runs`;
  byId("all").hidden = !listed;
}
byId("find").addEventListener("input", list);
byId("all").addEventListener("click", () => { listed = null; list(); });
for (const cell of document.querySelectorAll("button.cell")) {
  cell.title = "list the runs of this number";
  cell.addEventListener("click", () => {
    listed = new Set(cell.dataset.runs.split(" "));
    byId("find").value = "";
    list();
    byId("runs").scrollIntoView();
    byId("all").focus({ preventScroll: true });
  });
}

// Which runs are drawn.
const boxes = [...document.querySelectorAll("input[name=draw]")];
const surface = byId("surface") && new Surface(byId("surface"));
const costs = byId("costs") && new Costs(byId("costs"));
function drawSelected() {
  const selected = boxes.filter((box) => box.checked);
  for (const box of boxes) box.disabled = !box.checked && selected.length >= DATA.most;
  const series = selected.map((box, index) => [DATA.runs[box.value], index]);
  fillLegend(byId("legend"), series.map(([run, index]) => [`s${index}`, "", `${run.name}: ${summary(run)}`]));
  byId("surface").hidden = byId("costs").hidden = !series.length;
  for (const id of ["roc-plot", "gap-plot", "histograms", "worst", "calibration-plot"]) byId(id).replaceChildren();
  showDifferences(byId("differences"), selected.map((box) => box.value), DATA.runs, DATA.settings);
  const calibration = series.length ? drawCalibration(series) : null;
  byId("calibration").hidden = !calibration;
  if (calibration) byId("calibration-plot").append(calibration);
  if (!series.length) return;
  const beside = series.map(([run]) => framed(run.name, run.curves.length > 1 ? `(${run.curves[0].split})` : "", drawScores(run), drawErrors(run)));
  byId("roc-plot").append(drawRoc(series));
  if (series.some(([run]) => run.curves.some((each) => each.history[0].length))) byId("gap-plot").append(drawHistory(series));
  byId("histograms").append(...beside);
  byId("worst").append(...series.map(([run]) => worstTable(run)));
  costs.show(series);
  const select = byId("surface-run");
  const before = select.value;
  select.replaceChildren(...selected.map((box) => new Option(DATA.runs[box.value].name, box.value)));
  if (selected.some((box) => box.value === before)) select.value = before;
  surface.show(DATA.runs[select.value]);
}
if (surface) {
  for (const box of boxes) {
    box.checked = DATA.selected.includes(Number(box.value)); // also after a reload, when browsers restore the boxes
    box.addEventListener("change", drawSelected);
  }
  byId("surface-run").addEventListener("change", () => surface.show(DATA.runs[byId("surface-run").value]));
  drawSelected();
}
if (byId("ranked-plots")) drawRanked(byId("ranked-plots"), byId("ranked-legend"), DATA.ranked);
if (byId("bound-plot")) drawBounds(byId("bound-plot"), byId("bound-legend"), DATA.bounds);
if (byId("path-plots")) drawPaths(byId("path-plots"), DATA.paths);

// Open all details in print.
addEventListener("beforeprint", () => { for (const each of document.querySelectorAll("details")) each.open = true; });
