// Of the selected runs: the settings in which they differ, their worst ranked observations, and their probabilities.

/** A table from rows of texts; a cell may also be {text, value}, which is right-aligned. */
function makeTable(caption, head, rows) {
  const table = document.createElement("table");
  const title = document.createElement("span");
  title.textContent = caption;
  table.createCaption().append(title);
  const top = table.createTHead().insertRow();
  for (const [k, name] of head.entries()) {
    const cell = document.createElement("th");
    cell.scope = "col";
    if (rows[0]?.[k]?.text !== undefined) cell.className = "number";
    cell.textContent = name;
    top.append(cell);
  }
  const body = table.createTBody();
  for (const [first, ...rest] of rows) {
    const row = body.insertRow();
    const name = document.createElement("th");
    name.scope = "row";
    name.textContent = first;
    row.append(name);
    for (const each of rest) {
      const cell = row.insertCell();
      cell.textContent = each.text ?? each;
      if (each.text !== undefined) cell.className = "number";
    }
  }
  return table;
}

/** Around a table that may be wider than its column. */
function scrolled(table, label) {
  const around = document.createElement("div");
  around.tabIndex = 0;
  around.setAttribute("role", "region");
  around.setAttribute("aria-label", label);
  around.append(table);
  return around;
}

const number = (value, digits = 4) => ({ text: value === null ? "—" : written(value, digits) });
const percent = (value) => ({ text: `${(100 * value).toFixed(1)} %` });

/** What differs between the selected runs: settings, code, versions, data. */
function differences(keys, settings) {
  const lists = keys.map((key) => settings.values[key] ?? []);
  const rows = settings.names.map((name, k) => [name, ...lists.map((values) => values[k] || "—")])
    .filter(([, ...values]) => new Set(values).size > 1);
  return keys.length < 2 ? { text: "Select two runs or more to see in which settings they differ." }
    : !rows.length ? { text: "The selected runs have the same settings, code, versions and data." } : { rows };
}

function showDifferences(target, keys, runs, settings) {
  const { text, rows } = differences(keys, settings);
  if (text) {
    const note = document.createElement("p");
    note.className = "note";
    note.textContent = text;
    target.replaceChildren(note);
    return;
  }
  target.replaceChildren(makeTable("Settings, code, versions and data in which the selected runs differ.",
    ["setting", ...keys.map((key) => runs[key].name)], rows));
}

/** The worst ranked observations of a run; of several splits those of the first. */
function worstTable(run) {
  const [{ worst, split, part, auc, n_pos: positives, n_neg: negatives }] = run.curves;
  const caption = `${run.name} (${run.curves.length > 1 ? `${split}, ` : ""}${part} part)`;
  if (!worst?.length) {
    const note = document.createElement("p");
    note.className = "small";
    note.textContent = `${caption}: ${!worst ? "a score is infinite, so that errors have no mean"
      : auc === 1 ? "no pair is ranked wrong" : auc === 0.5 ? "every pair is tied"
      : "no pair is ranked the wrong way round, but some are tied"}`;
    return note;
  }
  const rows = worst.map((each) => [each.row === null ? "—" : String(each.row), each.positive ? "positive" : "negative",
    number(each.score), percent(each.wrong), number(each.error, 3)]);
  const table = makeTable(caption, ["row", "class", "score", "wrong against", "mean error"], rows);
  table.title = `of ${negatives} negatives for a positive, of ${positives} positives for a negative`;
  return scrolled(table, `Worst ranked observations of ${caption}`);
}

/** Shares of positives against mean probabilities, in groups of as many observations each; of several splits the first. */
function drawCalibration(series) {
  const known = series.filter(([run]) => run.curves[0].calibration);
  if (!known.length) return null;
  const axes = drawAxes({
    title: "Probabilities against outcomes",
    description: known.map(([run]) => `${run.name}: Brier score ${written(run.curves[0].calibration.brier)}; `
      + run.curves[0].calibration.groups.map(([p, share]) => `${written(share / 1e4, 2)} at ${written(p / 1e4, 2)}`).join(", ")).join(". "),
    x: makeScale([0, 1]), y: makeScale([0, 1]), xLabel: "mean probability of the group", yLabel: "share of positives", height: 330,
  });
  axes.line([0, 1], [0, 1], { class: "chance" });
  for (const [run, index] of known) {
    const groups = run.curves[0].calibration.groups.map((each) => [...unit(each.slice(0, 4)), each[4]]);
    axes.line(groups.map(([p]) => p), groups.map(([, share]) => share), { class: `curve s${index} several` }, run.name);
    for (const [p, share, low, high, count] of groups) {
      axes.line([p, p], [low, high], { class: `curve s${index} several` });
      axes.dot(p, share, { class: `dot s${index}` }, `${run.name}: ${count} observations, probability ${written(p, 3)}, share ${written(share, 3)} (${written(low, 3)} to ${written(high, 3)})`);
    }
  }
  const scores = known.map(([run]) => `${run.name} ${written(run.curves[0].calibration.brier)}`).join(" · ");
  return framed("Calibration.", `Ten groups of as many observations each, with 95 % intervals (Wilson). Brier score: ${scores}.`, axes.svg);
}
