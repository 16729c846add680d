// Tables: sorting by a click on a head, and hiding lines.

/** A button in every head of a column; aria-sort announces the order to a screen reader. */
function makeSortable(table) {
  for (const head of table.tHead.rows[0].cells) {
    if (head.tagName !== "TH") continue;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => sortBy(table, head));
  }
}

/** Ascending first, then the other way; numbers as numbers, what is missing last, equal lines in their old order. */
function sortBy(table, head) {
  const way = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
  for (const each of table.tHead.rows[0].cells) each.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", way === 1 ? "ascending" : "descending");
  const body = table.tBodies[0];
  const keyed = [...body.rows].map((row) => [sortKey(row.cells[head.cellIndex]), row]);
  keyed.sort(([a], [b]) => {
    if (a === null || b === null) return (a === null) - (b === null);
    const order = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
    return way * order;
  });
  body.append(...keyed.map(([, row]) => row));
}

function sortKey(cell) {
  const text = (cell.dataset.v ?? cell.textContent).trim();
  if (text === "" || text === "—") return null;
  if (text === "inf" || text === "-inf") return text === "inf" ? Infinity : -Infinity;
  return Number.isNaN(Number(text)) ? text : Number(text);
}

/** Show the lines of some runs (a set of numbers, or null for all) that also contain every search term. */
function showRuns(numbers, terms) {
  let count = 0;
  const seen = new Set();
  for (const row of document.querySelectorAll("#run-table tbody tr")) {
    const text = row.dataset.text.toLowerCase();
    const fits = (!numbers || numbers.has(row.dataset.run)) && terms.every((term) => text.includes(term));
    row.hidden = !fits;
    if (fits) { count += 1; seen.add(row.dataset.run); }
  }
  for (const row of document.querySelectorAll("#command-table tbody tr")) row.hidden = !seen.has(row.dataset.run);
  return count;
}
