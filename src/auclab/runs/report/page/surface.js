// The ROC surface over cost shares, turned by two sliders or by dragging.

class Surface {
  constructor(figure) {
    this.plot = figure.querySelector(".plot");
    this.turn = figure.querySelector("#azimuth");
    this.tilt = figure.querySelector("#elevation");
    for (const slider of [this.turn, this.tilt]) slider.addEventListener("input", () => this.draw());
    this.plot.addEventListener("pointerdown", (event) => this.drag(event));
  }

  show(run) {
    this.run = run;
    this.draw();
  }

  drag(start) {
    const [azimuth, elevation] = [Number(this.turn.value), Number(this.tilt.value)];
    this.plot.setPointerCapture(start.pointerId);
    const move = (event) => {
      this.turn.value = ((azimuth - (event.clientX - start.clientX) / 2 + 540) % 360) - 180;
      this.tilt.value = elevation + (event.clientY - start.clientY) / 2;
      this.draw();
    };
    this.plot.addEventListener("pointermove", move);
    for (const end of ["pointerup", "pointercancel"]) {
      this.plot.addEventListener(end, () => this.plot.removeEventListener("pointermove", move), { once: true });
    }
  }

  /** A point of the unit cube on the screen, and how near it is. */
  project([x, y, z]) {
    const [a, e] = [this.turn.value, this.tilt.value].map((degrees) => (Number(degrees) * Math.PI) / 180);
    const [u, v, w] = [x - 0.5, y - 0.5, z - 0.5];
    const right = -u * Math.sin(a) + v * Math.cos(a);
    const towards = u * Math.cos(a) + v * Math.sin(a);
    return [210 + 190 * right, 195 - 190 * (w * Math.cos(e) - towards * Math.sin(e)), towards * Math.cos(e) + w * Math.sin(e)];
  }

  path(points) {
    return points.map((point, k) => `${k ? "L" : "M"}${this.project(point).slice(0, 2).map((value) => value.toFixed(1))}`).join("");
  }

  draw() {
    const { surface, voros, split } = this.run.curves[0];
    const [t, left, top] = [surface.t, surface.left, surface.top].map(unit);
    const middle = t.length >> 1;
    const svg = canvas(420, 400, `ROC surface of ${this.run.name}, ${split}`,
      `VOROS, the volume below the surface, is ${written(voros)}. The line of equal cost at t = ${written(t[middle], 2)} `
      + `goes from a true positive rate of ${written(left[middle])} at false positive rate 0 `
      + `to a false positive rate of ${written(top[middle])} at true positive rate 1.`);
    for (const edge of CUBE) svg.append(svgNode("path", { class: "grid", d: this.path(edge) }));
    const hull = surface.hull.map(unit);
    svg.append(svgNode("path", { class: "curve s0", d: this.path(hull[0].map((fpr, k) => [fpr, hull[1][k], 0])) }));
    const strips = t.slice(1).map((high, k) => {
      const corners = [[0, left[k], t[k]], [top[k], 1, t[k]], [top[k + 1], 1, high], [0, left[k + 1], high]];
      return [mean(corners.map((corner) => this.project(corner)[2])), corners, k];
    });
    for (const [, corners, k] of strips.sort((a, b) => a[0] - b[0])) {
      svg.append(svgNode("path", { class: "face", "fill-opacity": 0.35 + 0.4 * t[k], d: `${this.path(corners)}Z` }));
      if (k % 4 === 0) svg.append(svgNode("path", { class: "mark", d: this.path(corners.slice(0, 2)) }));
    }
    for (const edge of [left.map((tpr, k) => [0, tpr, t[k]]), top.map((fpr, k) => [fpr, 1, t[k]])]) {
      svg.append(svgNode("path", { class: "mark", d: this.path(edge) }));
    }
    for (const [point, text] of WORDS) {
      const [x, y] = this.project(point);
      svg.append(svgNode("text", { x: x.toFixed(1), y: y.toFixed(1), "text-anchor": "middle" }, text));
    }
    svg.append(svgNode("text", { x: 210, y: 12, "text-anchor": "middle" }, `VOROS = ${written(voros)}`));
    this.plot.replaceChildren(svg);
  }
}

const CUBE = [[0, 0], [0, 1], [1, 0], [1, 1]].flatMap(([a, b]) => [[[a, b, 0], [a, b, 1]], [[a, 0, b], [a, 1, b]], [[0, a, b], [1, a, b]]]);
const WORDS = [
  [[0.5, -0.14, 0], "false positive rate"], [[1.14, 0.5, 0], "true positive rate"], [[-0.08, -0.08, 0.5], "t"],
  [[-0.06, -0.06, 0], "0"], [[1.06, -0.06, 0], "1, 0"], [[1.06, 1.06, 0], "1"], [[-0.06, -0.06, 1], "1"],
];
