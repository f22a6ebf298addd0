/* The page of the search: it looks through search-data.js and shows sections with excerpts.

   What is typed is words, the number of an equation, its label, a piece of its LaTeX, or the name of a
   function. Words are compared without accents and endings, and in one spelling (spelling.js); a section
   must have all of them, and only where none has do sections with some of them show. */
(() => {
  "use strict";

  const bare = (text) => text.toLowerCase().normalize("NFD").replace(/[\u0300-\u036f]/g, "");
  const folded = (text) => ` ${window.bookSpelling.british(bare(text).replace(/[^\p{L}\p{N}]+/gu, " ").trim())} `;
  const words = new Map(); // the same ones come again and again, and to fold one takes its time
  const word = (token) => words.get(token) ?? words.set(token, folded(token)).get(token);
  const plain = (text) => text.replace(/\\\(.*?\\\)/g, " ");
  const stem = (word) =>
    word.length < 5 ? word
      : word.replace(/ies$/, "y").replace(/(sses|shes|ches|xes)$/, (end) => end.slice(0, -2))
          .replace(/([^s])s$/, "$1").replace(/(.{4})(?:ing|ed)$/, "$1");
  const count = (text, start) => text.split(start).length - 1;
  const make = (tag, attributes = {}, ...inside) => {
    const made = Object.assign(document.createElement(tag), attributes);
    made.append(...inside);
    return made;
  };

  /* How much each part of the book is likely to be what one looks for. */
  const worth = (page) =>
    /ledger|sources-line|language|built|changes/.test(page.name) ? 0.4
      : /api\/(functions|classes)\//.test(page.name) ? 0.4 : /api\//.test(page.name) ? 0.7 : /gaussian-processes/.test(page.name) ? 1.3 : 1;

  let known; // to fold all words of the book takes longer than to look for some of them
  const flat = ({ pages }) => known ??= pages.flatMap((page) => page.sections.map((section) => ({
    page, section,
    title: folded(section.title),
    text: folded(plain(section.text)),
    code: folded(section.code),
  })));

  const scored = (place, stems, phrase) => {
    let score = 0, met = 0;
    for (const word of stems) {
      const [title, text, code] = [place.title, place.text, place.code].map((one) => count(one, ` ${word}`));
      if (title + text + code) met += 1;
      score += 6 * Math.min(title, 1) + 2 * Math.log1p(text) + 0.5 * Math.log1p(code);
    }
    if (stems.length > 1) score += 14 * Math.min(1, count(place.title, phrase)) + 6 * Math.log1p(count(place.text, phrase));
    return { ...place, met, score: score * worth(place.page) };
  };

  const address = (place, terms = "") => {
    const mark = terms ? `?highlight=${encodeURIComponent(terms)}` : "";
    return `${place.page.uri}${mark}${place.anchor ? "#" + place.anchor : ""}`;
  };

  /* Things with a name or a number of their own. */
  const equations = (data, query) => {
    const number = query.match(/^\(?(\d+\.\d+)\)?$/)?.[1];
    const label = /^(equation-)?eq-/.test(query) ? query.replace(/^equation-/, "") : null;
    const latex = query.includes("\\") ? query.replace(/\s+/g, "") : null;
    if (!number && !label && !latex) return [];
    return data.pages.flatMap((page) => page.sections.flatMap((section) => section.equations
      .filter(([anchor, its, source]) => its === number || (label && anchor.startsWith(`equation-${label}`))
        || (latex && source.replace(/\s+/g, "").includes(latex)))
      .map(([anchor, its, source]) => ({ page, section, anchor, number: its, latex: source }))));
  };

  const objects = (data, query) => {
    const wanted = bare(query).replace(/[()\s]+$/, "").replace(/^gp\./, "");
    if (wanted.length < 3 || /\s/.test(wanted)) return [];
    const far = ({ page }) => page.title.length + (bare(page.title).endsWith(`.${wanted}`) ? 0 : 1000);
    return data.pages.flatMap((page) => page.sections.flatMap((section) => section.objects
      .filter(([, name]) => bare(name) === wanted || bare(name).endsWith(`.${wanted}`))
      .map(([anchor, name]) => ({ page, section, anchor, name })))).sort((a, b) => far(a) - far(b));
  };

  const names = (data, query) => {
    const wanted = folded(query).trim();
    const same = (name) => stem(word(name).trim()) === stem(wanted);
    return data.names.filter((entry) => entry.names.some(same)).map((entry) => {
      const page = data.pages[entry.page];
      const section = page.sections[entry.section];
      return { page, section, anchor: section.anchor, entry };
    });
  };

  const places = (data, query, most) => {
    const terms = folded(query).trim().split(" ").filter(Boolean);
    const stems = terms.map(stem);
    if (!stems.length) return [];
    const all = flat(data).map((place) => scored(place, stems, ` ${terms.join(" ")}`))
      .filter((place) => place.met).sort((a, b) => b.score - a.score);
    const whole = all.filter((place) => place.met === stems.length);
    return (whole.length ? whole : all.filter((place) => place.met >= stems.length / 2)).slice(0, most)
      .map((place) => ({ ...place, anchor: place.section.anchor }));
  };

  /* Words around the first place where most of the terms stand together; a formula counts as a word. */
  const excerpt = (text, terms) => {
    const tokens = text.match(/\\\(.*?\\\)[^\s]*|\S+/g) ?? [];
    const stems = folded(terms).trim().split(" ").map((word) => ` ${stem(word)}`);
    const has = (word) => stems.some((one) => word.includes(one));
    const hits = tokens.map((token) => !token.includes("\\(") && has(word(token)));
    let best = hits.indexOf(true), most = 0;
    hits.forEach((hit, i) => {
      const near = hit ? hits.slice(i, i + 12).filter(Boolean).length : 0;
      if (near > most) [best, most] = [i, near];
    });
    if (best < 0) return null;
    const from = Math.max(0, best - 10), to = Math.min(tokens.length, best + 24);
    const shown = make("p", { className: "book-excerpt" }, from ? "… " : "");
    for (let i = from; i < to; i += 1) shown.append(hits[i] ? make("mark", {}, tokens[i]) : tokens[i], " ");
    if (to < tokens.length) shown.append("…");
    return shown;
  };

  const where = (place, extra = "") => make("p", { className: "book-where" }, [place.page.title, extra].filter(Boolean).join(" · "));
  const entry = (title, href, ...rest) => make("li", {}, make("a", { href }, title), ...rest.filter(Boolean));

  const ofEquation = (hit) => entry(`Equation (${hit.number})`, address(hit),
    where(hit, hit.section.title), make("div", { className: "math notranslate" }, `\\[${hit.latex}\\]`));
  const ofObject = (hit) => entry(hit.name, address(hit), where(hit, hit.section.title));
  const ofName = (query) => (hit) => entry(hit.section.title || hit.page.title, address(hit, hit.entry.here),
    where(hit), make("p", { className: "book-excerpt" }, `“${query}” is called “${hit.entry.here}” here.`),
    excerpt(hit.section.text, hit.entry.here));
  const ofPlace = (query) => (hit) => entry(hit.section.title || hit.page.title, address(hit, query),
    hit.section.title === hit.page.title ? null : where(hit),
    excerpt(hit.section.text, query) ?? excerpt(hit.section.code, query));

  /* Whoever types a name of the code wants that; a word of the language leads to the text first. */
  const found = (data, query, most) => {
    const text = places(data, query, most).map(ofPlace(query));
    const code = objects(data, query).map(ofObject);
    const first = /[(_.]|[a-z][A-Z]/.test(query) ? 0 : 3;
    return [...equations(data, query).map(ofEquation), ...names(data, query).map(ofName(query)),
      ...text.slice(0, first), ...code, ...text.slice(first)];
  };

  window.bookFind = (query, most = 60) => found(window.bookSearch, query, most);

  const said = (number, query) => make("p", { className: "search-summary", role: "status" },
    number ? `${number} ${number === 1 ? "place" : "places"} for “${query}”.`
      : `Nothing for “${query}”. Try fewer words, the index, or the number of an equation.`);

  const mathjax = new Promise((ready) => {
    const here = () => window.MathJax?.startup?.promise;
    if (here()) ready(here());
    else window.addEventListener("load", () => ready(here()));
  });

  const show = () => {
    const query = (new URLSearchParams(location.search).get("q") ?? "").trim();
    const box = document.getElementById("search-results");
    if (!query || !box || !window.bookSearch) return;
    document.querySelectorAll("form.bd-search input").forEach((input) => { input.value = query; });
    document.title = `${query} - Search - gpnotes`;
    const entries = window.bookFind(query);
    box.replaceChildren(said(entries.length, query), make("ol", { className: "search" }, ...entries));
    mathjax.then(() => window.MathJax?.typesetPromise?.([box]));
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", show);
  else show();
})();
