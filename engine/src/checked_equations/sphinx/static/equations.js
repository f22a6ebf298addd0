/* Two things, each of which the page can do without: mathematics that waits is typeset when a reader comes
   to it, and tables that say so can be searched and sorted. */
(() => {
  "use strict";

  /* MathJax may still be on its way when something stands open from the start. */
  const mathjax = new Promise((ready) => {
    const here = () => window.MathJax && window.MathJax.startup && window.MathJax.startup.promise;
    if (here()) ready(here());
    else window.addEventListener("load", () => ready(here()));
  });

  /* What waits stands in a badge, or in a table that is longer than anybody reads. It is set when it comes
     near the window, what is nearest first; nothing that is folded away is near. The browser says so, and
     says where it lies: to ask each of a thousand for its place would take seconds. Between two pieces the
     page can do what its reader wants. */
  const PIECE = 12;
  const near = new Map();  // each with its distance from the window, in whole tenths of it
  let working = false;

  const taken = (elements) => elements.map((element) => {
    near.delete(element);
    watch.unobserve(element);
    element.classList.remove("eqn-later", "tex2jax_ignore");
    element.classList.add("math", "eqn-set");
    return element;
  });

  const work = async () => {
    if (working) return;
    working = true;
    await mathjax;
    while (near.size) {
      await new Promise((ready) => setTimeout(ready));
      const least = Math.min(...near.values());
      const nearest = [...near.keys()].filter((element) => near.get(element) === least);
      await window.MathJax?.typesetPromise?.(taken(nearest.slice(0, PIECE)));
    }
    working = false;
  };

  const watch = new IntersectionObserver((entries) => {
    entries.forEach(({ target, isIntersecting, boundingClientRect: { top, bottom } }) => {
      const away = Math.max(0, -bottom, top - window.innerHeight);
      if (isIntersecting) near.set(target, Math.ceil((10 * away) / window.innerHeight));
      else near.delete(target);
    });
    work();
  }, { rootMargin: "50% 0px", scrollMargin: "50% 0px" });

  const waitForReaders = () => document.querySelectorAll(".eqn-later").forEach((element) => watch.observe(element));

  /* A printer comes to everything that is not folded. */
  const waitForPrinters = () => window.addEventListener("beforeprint", () => {
    const open = [...document.querySelectorAll(".eqn-later")].filter((element) => !element.closest("details:not([open])"));
    if (open.length) window.MathJax?.typeset?.(taken(open));
  });

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

  /* What is left of a long table, some rows at a time: a telephone would have to scroll through all of
     them. Paper has them all, and so has the page without this. The style sheet knows the number. */
  const ROWS = 50;

  const pages = (box) => {
    const button = (text, act) => {
      const made = document.createElement("button");
      made.type = "button";
      made.textContent = text;
      made.addEventListener("click", act);
      return made;
    };
    const turn = (to) => {
      first = to;
      show();
      box.querySelector("table").parentElement.scrollTop = 0;
      if (box.getBoundingClientRect().top < 0) box.scrollIntoView();
    };
    const bar = document.createElement("nav"), place = document.createElement("span");
    const back = button("← Before", () => turn(first - ROWS)), on = button("Next →", () => turn(first + ROWS));
    const all = button("", () => { size = size === ROWS ? Infinity : ROWS; turn(0); });
    bar.className = "eqn-pages";
    bar.setAttribute("aria-label", `Pages of the ${box.dataset.things}`);
    place.setAttribute("role", "status");
    bar.append(back, place, on, all);
    box.append(bar);

    let first = 0, size = ROWS;
    const show = () => {
      const left = [...box.querySelectorAll("tbody tr")].filter((row) => !row.hidden);
      const end = Math.min(first + size, left.length);
      left.forEach((row, i) => row.classList.toggle("eqn-elsewhere", i < first || i >= end));
      place.textContent = `${first + 1} to ${end} of ${left.length}`;
      back.disabled = !first;
      on.disabled = end === left.length;
      all.textContent = size === ROWS ? "Show all" : `${ROWS} at a time`;
      bar.hidden = left.length <= ROWS;
    };
    /* A link to a row leads to its page. */
    const find = () => {
      const row = document.getElementById(decodeURIComponent(location.hash.slice(1)));
      if (!box.contains(row) || !row.matches(".eqn-elsewhere")) return;
      const left = [...box.querySelectorAll("tbody tr")].filter((one) => !one.hidden);
      first = ROWS * Math.floor(left.indexOf(row) / ROWS);
      show();
      row.scrollIntoView();
    };
    addEventListener("hashchange", find);
    return { begin: () => { first = 0; show(); }, find };
  };

  const search = (box, begin) => {
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
      begin();
    };
    const ofKind = kinds(field, rows, show);
    field.addEventListener("input", show);
    field.closest(".eqn-search").hidden = false;
    show();
  };

  /* What a cell says, or more exactly its key: of "21 of 22" the first number. */
  const keyOf = (row, column, kind) => {
    const cell = row.cells[column];
    const key = cell.dataset.key ?? cell.textContent.trim().toLowerCase();
    return kind === "number" ? parseFloat(key.replace("\u2212", "-")) : key;
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

  const sort = (box, begin) => {
    const table = box.querySelector("table");
    table.querySelectorAll(".eqn-sort").forEach((button) => {
      button.addEventListener("click", () => {
        sortBy(table, button.closest("th"));
        begin();
      });
    });
  };

  const start = () => {
    waitForReaders();
    waitForPrinters();
    document.querySelectorAll(".eqn-searchable").forEach((box) => {
      const { begin, find } = pages(box);
      search(box, begin);
      sort(box, begin);
      box.classList.add("eqn-begun");
      find();
    });
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
