// Figures of the selected runs, and of bounds and paths over all runs. A series is [run, its index in the legend].

const unit = (values) => values.map((value) => value / 10000);
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const curveClass = (index, curves) => `curve s${index}${curves.length > 1 ? " several" : ""}`;

function summary(run) {
  const [auc, bauc] = ["auc", "bauc"].map((key) => written(mean(run.curves.map((each) => each[key])), 4));
  const first = run.curves[0];
  const splits = run.curves.length > 1 ? `mean of ${run.curves.length} splits`
    : `${first.n_pos} positives, ${first.n_neg} negatives of the ${first.part} part`;
  return `AUC ${auc}, bAUC ${bauc} (${splits})`;
}

function drawRoc(series) {
  const axes = drawAxes({
    title: "ROC and buffered ROC curves",
    description: series.map(([run]) => `${run.name}: ${summary(run)}`).join(". "),
    x: makeScale([0, 1]), y: makeScale([0, 1]), xLabel: "false positive rate", yLabel: "true positive rate", height: 370,
  });
  axes.line([0, 1], [0, 1], { class: "chance" });
  const [[only], ...others] = series;
  const band = !others.length && only.curves.length === 1 && only.curves[0].band;
  if (band) axes.put(bandAround(axes, only.curves[0].roc.map(unit), band), `95 % band of the ROC curve of ${only.name}`);
  for (const [run, index] of series) {
    for (const each of run.curves) {
      const [name, colour] = [`${run.name}, ${each.split}`, curveClass(index, run.curves)];
      if (each.broc) axes.line(...each.broc.map(unit), { class: `${colour} buffered` }, `bROC of ${name}: bAUC ${written(each.bauc)}`);
      axes.line(...each.roc.map(unit), { class: colour }, `ROC of ${name}: AUC ${written(each.auc)}`);
    }
  }
  const shaded = band ? " Shaded: where the whole ROC curve of the population lies with probability 0.95 (Kolmogorov–Smirnov distances, for any sample size)."
    : " One run alone has its 95 % band.";
  return framed("ROC and bROC.", `Solid: ROC, the area is AUC. Dashed: buffered ROC, the area is bAUC if the scores have no ties.${shaded}`, axes.svg);
}

/** The curve moved up and left, and down and right, within the square. */
function bandAround(axes, [fpr, tpr], [dx, dy]) {
  const within = (value) => Math.min(1, Math.max(0, value));
  const above = fpr.map((x, k) => [within(x - dx), within(tpr[k] + dy)]);
  const below = fpr.map((x, k) => [within(x + dx), within(tpr[k] - dy)]);
  const corners = [[0, within(dy)], ...above, [1, 1], [1, within(1 - dy)], ...below.reverse(), [0, 0]];
  return svgNode("path", { class: "band", d: `${axes.path(corners)}Z` });
}

function drawHistory(series) {
  const all = series.flatMap(([run]) => run.curves.map((each) => each.history));
  const end = ([seconds, gaps]) => (seconds.length ? `gap ${written(gaps.at(-1), 2)} after ${written(seconds.at(-1), 3)} seconds` : "no history");
  const axes = drawAxes({
    title: "Relative gap over time",
    description: series.map(([run]) => `${run.name}: ${run.curves.map((each) => end(each.history)).join(", ")}`).join(". "),
    x: makeScale(all.flatMap(([seconds]) => seconds), { log: true }),
    y: makeScale(all.flatMap(([, gaps]) => gaps), { log: true }),
    xLabel: "seconds", yLabel: "relative gap", height: 370,
  });
  for (const [run, index] of series) {
    for (const { history: [seconds, gaps], split } of run.curves) {
      const name = `${run.name}, ${split}`;
      const [xs, ys] = [seconds.flatMap((at, k) => (k ? [at, at] : [at])), gaps.flatMap((gap, k) => (k ? [gaps[k - 1], gap] : [gap]))];
      axes.line(xs, ys, { class: curveClass(index, run.curves) }, name);
      seconds.forEach((at, k) => axes.dot(at, gaps[k], { class: `dot s${index}`, r: 2 }, name));
    }
  }
  return framed("Time to gap.", "Best objective less best bound so far, relative to the objective; a gap of 0 is drawn at 10⁻¹⁶. "
    + "A run whose solver records no history has no line.", axes.svg);
}

/** Scores of both classes; of several splits the first. */
function drawScores(run) {
  const { n_pos: positives, n_neg: negatives, scores: { edges, neg, pos } } = run.curves[0];
  const ends = `from ${written(edges[0])} to ${written(edges.at(-1))}`;
  const axes = drawAxes({
    title: `Scores of ${run.name}`,
    description: `Densities of the scores of ${positives} positives and ${negatives} negatives, ${ends}.`,
    x: makeScale(edges), y: makeScale([...neg, ...pos], { low: 0 }),
    xLabel: "score", yLabel: "density within the class", height: 220, yTicks: false,
  });
  for (const [heights, kind, name] of [[neg, "neg", "negatives"], [pos, "pos", "positives"]]) {
    const [xs, ys] = [[edges[0]], [0]];
    heights.forEach((height, k) => { xs.push(edges[k], edges[k + 1]); ys.push(height, height); });
    axes.line([...xs, edges.at(-1)], [...ys, 0], { class: kind, "stroke-dasharray": kind === "neg" ? "4 2" : "" }, name);
  }
  return axes.svg;
}

/** Ranking errors of all pairs: right, within the buffer, wrong; of several splits the first. */
function drawErrors(run) {
  const { auc, bauc, errors: { edges, density, gamma } } = run.curves[0];
  const start = gamma ?? (bauc === 0 ? -Infinity : Infinity); // without γ* all pairs are in the buffer, or none
  const top = Math.max(...density);
  const axes = drawAxes({
    title: `Ranking errors of ${run.name}`,
    description: `Density of the ranking errors of all pairs. 1 − AUC is ${written(1 - auc)}, 1 − bAUC is ${written(1 - bauc)}`
      + `${gamma === null ? "" : `, the buffer starts at ${written(gamma)}`}.`,
    x: makeScale(edges), y: makeScale([0, 1.12 * top]),
    xLabel: "ranking error h(x⁻) − h(x⁺)", yLabel: "density of pairs", height: 220, yTicks: false,
  });
  const kind = (edge) => (edge >= 0 ? "wrong" : edge >= start ? "within" : "right");
  density.forEach((height, k) => axes.bar(edges[k], edges[k + 1], height, { class: `bar ${kind(edges[k])}` }));
  for (const [level, sign, anchor] of [[gamma, "γ*", "end"], [0, "0", "start"]]) {
    if (level === null || level < edges[0] || level > edges.at(-1)) continue;
    axes.line([level, level], [0, 1.12 * top], { class: "mark" });
    axes.note(level, 1.12 * top, sign, anchor);
  }
  return axes.svg;
}

/** Which share of the pairs of every group, or row, is ranked right: a figure for each kind of pairs. */
function drawRanked(target, legend, runs) {
  const values = (curves) => curves[0].names.map((name, k) => `${name} ${written(mean(curves.map((each) => each.values[k])))}`).join(", ");
  const series = runs.map((run, index) => [run, index]);
  const kinds = groupBy(series, ([run]) => `${run.curves[0].names[0]}, by ${run.curves[0].units}`);
  target.replaceChildren(...[...kinds].map(([kind, found]) => {
    const { names: [name], units } = found[0][0].curves[0];
    const axes = drawAxes({
      title: kind, description: found.map(([run]) => `${run.name}: ${values(run.curves)}`).join(". "),
      x: makeScale([0, 1]), y: makeScale([0, 1]), xLabel: "share of the pairs", yLabel: `ranked right, by ${units}`, height: 370,
    });
    axes.line([0, 1], [0.5, 0.5], { class: "chance" });
    for (const [run, index] of found) {
      for (const each of run.curves) {
        const [shares, right] = each.concordance.map(unit);
        const xs = shares.flatMap((at, k) => (k ? [shares[k - 1], at] : []));
        axes.line(xs, right.slice(1).flatMap((at) => [at, at]), { class: curveClass(index, run.curves) }, `${run.name}: ${values([each])}`);
      }
    }
    return framed(`${kind}.`, `In ascending order; the area is the ${name}.`, axes.svg);
  }));
  fillLegend(legend, series.map(([run, index]) => [`s${index}`, "", `${run.name}: ${values(run.curves)}`]));
}

/** Six colours, then the same colours with another shape. */
const shape = (index) => (index < 6 ? "dot" : "square");

function drawBounds(plot, legend, bounds) {
  const kinds = Object.entries(bounds);
  const values = kinds.flatMap(([, points]) => points.map(([value]) => value));
  const holding = (points) => points.filter(([value, lower]) => lower <= value).length;
  const axes = drawAxes({
    title: "Bounds over held-out values",
    description: kinds.map(([name, points]) => `${name}: ${holding(points)} of ${points.length} points not above the held-out value`).join(". "),
    x: makeScale(values, { high: 1, pad: 0.02 }), y: makeScale([0, 1], { pad: 0.02 }),
    xLabel: "value on the held-out part", yLabel: "lower bound", height: 330,
  });
  kinds.forEach(([name, points], index) => {
    for (const [value, lower] of points) axes[shape(index)](value, lower, { class: `dot s${index % 6}` },
      `${name}: held out ${written(value)}, at least ${written(lower)}`);
  });
  const least = values.reduce((a, b) => Math.min(a, b), 1);
  axes.line([least, 1], [least, 1], { class: "chance" });
  plot.replaceChildren(axes.svg);
  fillLegend(legend, kinds.map(([name], index) => [`s${index % 6}`, "", name, shape(index)]));
}

/** A figure per metric and parameter, a line per path. */
function drawPaths(target, paths) {
  const panels = groupBy(paths, (path) => `${path.symbol} ${path.metric}`);
  target.replaceChildren(...[...panels.values()].map((lines) => {
    const { metric, symbol } = lines[0];
    const points = lines.flatMap((line) => line.points);
    const values = points.map((point) => point.at);
    const log = Math.min(...values) > 0 && Math.max(...values) > 20 * Math.min(...values);
    const ends = points.flatMap(({ mean, deviation }) => [mean - (deviation ?? 0), mean + (deviation ?? 0)]);
    const described = (line) => line.points.map((point) => `${written(point.mean)} at ${written(point.at)}`).join(", ");
    const axes = drawAxes({
      title: `${metric} along ${symbol}`,
      description: lines.map((line) => `${line.name}: ${described(line)}`).join(". "),
      x: makeScale(values, { log, pad: 0.04 }), y: makeScale(ends, { pad: 0.04 }),
      xLabel: symbol, yLabel: metric,
    });
    lines.forEach((line, k) => {
      const colour = `s${k % 6}`;
      const [xs, ys] = [line.points.map(({ at }) => at), line.points.map(({ mean }) => mean)];
      const joined = line.joined ?? true;
      if (joined) axes.line(xs, ys, { class: `curve ${colour}`, "stroke-dasharray": DASHES[k % 6] }, line.name);
      for (const { at, mean, deviation, count } of line.points) {
        if (deviation !== null) axes.line([at, at], [mean - deviation, mean + deviation], { class: `curve ${colour}` });
        axes.dot(at, mean, { class: `dot ${colour}` }, `${line.name}, ${symbol} = ${written(at)}: ${written(mean)} (${count})`);
      }
    });
    const legend = document.createElement("ul");
    legend.className = "legend";
    fillLegend(legend, lines.map((line, k) => [`s${k % 6}`, DASHES[k % 6], line.name, line.joined ?? true ? "" : "dot"]));
    return framed(`${metric} along ${symbol}.`, "", axes.svg, legend);
  }));
}

function groupBy(items, keyOf) {
  const groups = new Map();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}
