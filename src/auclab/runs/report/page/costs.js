// What errors cost: the cheapest threshold of each selected run for a ratio of costs and a share of positives.

/** Mean cost of an observation if a false positive costs 1 and a false negative `ratio`. */
const costAt = ([fpr, tpr], ratio, share) => (1 - share) * fpr + share * ratio * (1 - tpr);

class Costs {
  constructor(section) {
    this.section = section;
    this.ratio = section.querySelector("#cost-ratio");
    this.share = section.querySelector("#cost-share");
    for (const slider of [this.ratio, this.share]) slider.addEventListener("input", () => this.draw());
    section.querySelector("#cost-reset").addEventListener("click", () => { this.ratio.value = 0; this.restore(); this.draw(); });
  }

  show(series) {
    this.series = series;
    this.restore();
    this.draw();
  }

  /** The share of positives that the first selected run has. */
  restore() {
    const [{ n_pos: positives, n_neg: negatives }] = this.series[0][0].curves;
    this.share.value = Math.log10(positives / negatives);
  }

  draw() {
    const ratio = 10 ** Number(this.ratio.value);
    const odds = 10 ** Number(this.share.value);
    const share = odds / (1 + odds);
    const texts = [ratio >= 1 ? `${written(ratio, 3)} : 1` : `1 : ${written(1 / ratio, 3)}`, `${written(100 * share, 3)} %`];
    for (const [k, slider] of [this.ratio, this.share].entries()) {
      this.section.querySelector(`#${slider.id}-text`).textContent = texts[k];
      slider.setAttribute("aria-valuetext", texts[k]); // its own value is a logarithm
    }
    this.section.querySelector("#cost-plot").replaceChildren(this.figure(ratio, share));
    this.section.querySelector("#cost-table").replaceChildren(this.table(ratio, share));
  }

  /** The cheapest vertex of the hull. */
  best(run, ratio, share) {
    const points = run.curves[0].cheapest.map(([fpr, tpr, score]) => [fpr / 1e4, tpr / 1e4, score]);
    return points.reduce((least, each) => (costAt(each, ratio, share) < costAt(least, ratio, share) ? each : least));
  }

  figure(ratio, share) {
    const ratios = [...Array(81).keys()].map((k) => 10 ** ((k - 40) / 20));
    const relative = (point, at) => costAt(point, at, share) / Math.min(1 - share, share * at);
    const axes = drawAxes({
      title: "Cost against the ratio of costs",
      description: this.series.map(([run]) => `${run.name}: ${written(relative(this.best(run, ratio, share), ratio), 3)} of the cost of the better constant answer`).join(". "),
      x: makeScale([0.01, 100], { log: true }), y: makeScale([0, 1.25], { low: 0 }),
      xLabel: "cost of a false negative / cost of a false positive", yLabel: "cost / cost of a constant answer", height: 330,
    });
    axes.line([0.01, 100], [1, 1], { class: "chance" });
    for (const [run, index] of this.series) {
      axes.line(ratios, ratios.map((at) => relative(this.best(run, at, share), at)), { class: `curve s${index}` }, `${run.name}, the cheapest threshold`);
      const kept = run.curves[0].threshold;
      if (!kept) continue;
      const seen = ratios.map((at) => [at, relative(unit(kept.rates), at)]).filter(([, cost]) => cost <= 1.25);
      if (seen.length) axes.line(seen.map(([at]) => at), seen.map(([, cost]) => cost), { class: `curve s${index} buffered` }, `${run.name}, its own threshold`);
    }
    axes.line([ratio, ratio], [0, 1.25], { class: "mark" });
    return framed("Cost curves.", "Solid: the cheapest threshold for each ratio. Dashed: the threshold that the run kept. 1 is the cheaper of calling "
      + "nothing and everything positive.", axes.svg);
  }

  table(ratio, share) {
    const rows = this.series.map(([run]) => {
      const [fpr, tpr, score] = this.best(run, ratio, share);
      const kept = run.curves[0].threshold;
      const own = kept ? number(costAt(unit(kept.rates), ratio, share)) : number(null);
      const from = score === null ? { text: "none" } : tpr === 1 && fpr === 1 ? { text: "all" } : { text: String(score).replace("-", "−") };
      return [run.name, from, percent(fpr), percent(tpr), number(costAt([fpr, tpr], ratio, share)), own];
    });
    return makeTable("The cheapest threshold on these observations; on new ones it costs a little more, as it was chosen here.",
      ["run", "positive from score", "false positives", "true positives", "cost", "cost at its own threshold"], rows);
  }
}
