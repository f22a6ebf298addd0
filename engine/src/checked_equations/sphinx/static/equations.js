/* Three things, each of which the page can do without: mathematics inside a badge is typeset when the
   badge is opened, and tables that say so can be searched and sorted. */
(() => {
  "use strict";

  /* Mathematics that waits. MathJax may still be on its way when a badge stands open from the start. */
  const mathjax = new Promise((ready) => {
    const here = () => window.MathJax && window.MathJax.startup && window.MathJax.startup.promise;
    if (here()) ready(here());
    else window.addEventListener("load", () => ready(here()));
  });

  const typeset = async (details) => {
    const waiting = [...details.querySelectorAll(".eqn-later")].filter(
      (span) => span.closest("details") === details,
    );
    waiting.forEach((span) => {
      span.classList.remove("eqn-later", "tex2jax_ignore");
      span.classList.add("math", "eqn-set");
    });
    if (waiting.length) await window.MathJax?.typesetPromise?.(waiting);
  };

  /* All badges of a page may be opened at once: they take turns, the nearest to the window first, and
     between two of them the page can do what its reader wants. */
  const opened = new Set();
  let working = false;
  const distance = (details) => {
    const { top, bottom } = details.getBoundingClientRect();
    return Math.max(0, -bottom, top - window.innerHeight);
  };
  const nearest = () => [...opened].reduce((a, b) => (distance(b) < distance(a) ? b : a));

  const work = async () => {
    if (working) return;
    working = true;
    await mathjax;
    while (opened.size) {
      await new Promise((ready) => setTimeout(ready));  // first let all of them say that they are open
      const details = nearest();
      opened.delete(details);
      if (details.open) await typeset(details);
    }
    working = false;
  };

  const wait = (details) => {
    if (!details.open) return;
    opened.add(details);
    work();
  };

  const waitForOpening = () => {
    document.querySelectorAll("details.eqn-badge, details.eqn-more").forEach((details) => {
      details.addEventListener("toggle", () => wait(details));
      wait(details);
    });
  };

  /* A table that can be searched and sorted. */
  const words = (text) => text.toLowerCase().split(/\s+/).filter(Boolean);

  const kindOf = (row) => row.querySelector(".eqn-kind")?.textContent.trim();

  /* A box to tick for each kind of row; where none is ticked, all kinds are wanted. */
  const kinds = (field, rows, changed) => {
    const counts = new Map();
    rows.map(kindOf).filter(Boolean).forEach((kind) => counts.set(kind, (counts.get(kind) ?? 0) + 1));
    if (counts.size < 2) return () => true;
    const group = document.createElement("span");
    group.className = "eqn-kinds";
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", "Show these kinds alone");
    counts.forEach((count, kind) => {
      const label = document.createElement("label"), tick = document.createElement("input");
      tick.type = "checkbox";
      tick.value = kind;
      tick.autocomplete = "off";
      tick.addEventListener("change", changed);
      label.append(tick, ` ${kind} ${count}`);
      group.append(label);
    });
    field.closest(".eqn-search").append(group);
    return (row) => {
      const wanted = [...group.querySelectorAll(":checked")].map((tick) => tick.value);
      return !wanted.length || wanted.includes(kindOf(row));
    };
  };

  const search = (box) => {
    const rows = [...box.querySelectorAll("tbody tr")];
    const field = box.querySelector("input[type=search]");
    const count = box.querySelector(".eqn-count");
    const things = box.dataset.things;
    const texts = rows.map((row) => row.textContent.toLowerCase());
    const show = () => {
      const wanted = words(field.value);
      let shown = 0;
      rows.forEach((row, i) => {
        row.hidden = !(ofKind(row) && wanted.every((word) => texts[i].includes(word)));
        shown += row.hidden ? 0 : 1;
      });
      count.textContent = `${shown} of ${rows.length} ${things}`;
    };
    const ofKind = kinds(field, rows, show);
    field.addEventListener("input", show);
    field.closest(".eqn-search").hidden = false;
    show();
  };

  const keyOf = (row, column, kind) => {
    const cell = row.cells[column];
    const key = cell.dataset.key ?? cell.textContent.trim().toLowerCase();
    if (kind !== "number") return key;
    return key === "" ? NaN : Number(key);
  };

  /* Numbers by size, words by the alphabet; what is empty stands last, whichever way one sorts. */
  const compare = (a, b, sign) => {
    const empty = (value) => value === "" || Number.isNaN(value);
    if (empty(a) || empty(b)) return empty(a) - empty(b);
    if (typeof a === "number") return sign * (a - b);
    return sign * a.localeCompare(b, "en", { numeric: true });
  };

  const sortBy = (table, header) => {
    const ascending = header.getAttribute("aria-sort") !== "ascending";
    table.querySelectorAll("th").forEach((th) => th.setAttribute("aria-sort", "none"));
    header.setAttribute("aria-sort", ascending ? "ascending" : "descending");
    const body = table.tBodies[0];
    const column = header.cellIndex;
    const keyed = [...body.rows].map((row) => [keyOf(row, column, header.dataset.kind), row]);
    keyed.sort((a, b) => compare(a[0], b[0], ascending ? 1 : -1));
    body.append(...keyed.map((entry) => entry[1]));
  };

  const sort = (box) => {
    const table = box.querySelector("table");
    table.querySelectorAll(".eqn-sort").forEach((button) => {
      button.addEventListener("click", () => sortBy(table, button.closest("th")));
    });
  };

  const start = () => {
    waitForOpening();
    document.querySelectorAll(".eqn-searchable").forEach((box) => {
      search(box);
      sort(box);
    });
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
