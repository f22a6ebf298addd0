/* The page of the search: it looks through search-data.js and shows sections with excerpts.

   What is typed is words, the number of an equation, its label, a piece of its LaTeX, or the name of a
   function. Words are compared without accents and endings, and in one spelling (spelling.js); those that
   every sentence has do not count, and one that the book does not know is read as its nearest neighbour.
   Sections that have most of them are ranked by BM25 over their names, titles, text and code. */
(() => {
  "use strict";

  const bare = (text) => text.toLowerCase().normalize("NFD").replace(/[\u0300-\u036f]/g, "");
  const folded = (text) => ` ${window.bookSpelling.british(bare(text).replace(/[^\p{L}\p{N}]+/gu, " ").trim())} `;
  const words = new Map(); // the same ones come again and again, and to fold one takes its time
  const word = (token) => words.get(token) ?? words.set(token, folded(token)).get(token);
  const split = (text) => text.split(/\s+/).filter(Boolean);
  const plain = (text) => text.replace(/\\\(.*?\\\)/g, " ");
  const singular = (word) =>
    word.length < 5 ? word.replace(/^(gp|..[^s])s$/, "$1")
      : word.replace(/ies$/, "y").replace(/(sses|shes|ches|xes)$/, (end) => end.slice(0, -2))
          .replace(/([^s])s$/, "$1").replace(/(.{4})(?:ing|ed)$/, "$1");
  const stem = (word) => singular(word).replace(/(.{5})e$/, "$1");
  const count = (text, start) => text.split(start).length - 1;
  const make = (tag, attributes = {}, ...inside) => {
    const made = Object.assign(document.createElement(tag), attributes);
    made.append(...inside);
    return made;
  };

  const STOP = new Set(split(`a about am an and are as at be between by can could difference do does explain explained
    find for from get give had has have how i if in into is it its let me my need of on or our shall should so some
    than that the their them then there these this those to us use used using versus via vs want was we were what
    when where which who whose why will with would you your`));
  const telling = (terms) => {
    const rest = terms.filter((term) => !STOP.has(term));
    return rest.length ? rest : terms;
  };
  const key = (terms) => telling(terms).map(stem).join(" ");

  /* How likely each part of the book is what one looks for. */
  const WORTH = [
    [/references|changes|ledger|genindex/, 0.3], [/glossary|leaflet|sources-line|built|gallery/, 0.45],
    [/language|course|data-sets|api\/modules\//, 0.6], [/api\//, 0.9],
  ];
  const PARTS = [[/Choosing a method/, 0.7], [/Exercises$/, 0.5], [/Summary and further reading$/, 0.7], [/Notation and shapes$/, 0.8]];
  const worth = (listed, said) => listed.find(([pattern]) => pattern.test(said))?.[1] ?? 1;

  /* Each word of the book, and where it stands: to look for it then takes no time. What `field` counts is
     worth `weight` of a word of the text, the less the more other words stand there. */
  const FIELDS = [
    { field: "names", weight: 4, long: 0.3 }, { field: "title", weight: 6, long: 0.2 },
    { field: "of", weight: 1.5, long: 0.3 }, { field: "text", weight: 1, long: 0.75 }, { field: "code", weight: 0.2, long: 0.75 },
  ];
  const SOON = 2; // how soon a word has been said often enough

  const places_of = (data) => {
    const called = new Map();
    for (const { page, section, names: its } of data.names) {
      const there = `${page} ${section}`;
      called.set(there, [...(called.get(there) ?? []), ...its]);
    }
    return data.pages.flatMap((page, i) => page.sections.map((section, j) => ({
      page, section,
      worth: worth(WORTH, page.name) * worth(PARTS, section.title) * (section.text || section.equations.length ? 1 : 0.6),
      names: folded((called.get(`${i} ${j}`) ?? []).join(" · ")),
      title: folded(section.title),
      of: page.title === section.title ? " " : folded(page.title),
      text: folded(plain(section.text)),
      code: folded(section.code),
    })));
  };

  let index; // to fold all words of the book takes longer than to look for some of them
  const indexed = (data) => {
    if (index) return index;
    const places = places_of(data), tokens = new Map(), stems = new Map();
    for (const { field, weight, long } of FIELDS) {
      const said = places.map((place) => split(place[field]));
      const mean = said.reduce((sum, one) => sum + one.length, 0) / (said.filter((one) => one.length).length || 1);
      said.forEach((all, at) => {
        const each = weight / (1 - long + long * all.length / mean);
        for (const token of all) {
          if (!tokens.has(token)) tokens.set(token, new Map());
          const where = tokens.get(token);
          where.set(at, (where.get(at) ?? 0) + each);
        }
      });
    }
    for (const token of tokens.keys()) stems.set(stem(token), [...(stems.get(stem(token)) ?? []), token]);
    const at = new Map(places.map(({ section }, i) => [section, i]));
    const named = data.names.flatMap((entry) => entry.names.map((name) =>
      ({ entry, key: key(split(word(name))), at: at.get(data.pages[entry.page].sections[entry.section]) })));
    return (index = { places, tokens, stems, named });
  };

  /* Is the one word the other but for a letter more, less, wrong, or two that changed places? */
  const near = (one, other) => {
    const [short, long] = one.length < other.length ? [one, other] : [other, one];
    if (long.length - short.length > 1) return false;
    let from = 0, to = 0;
    while (from < short.length && short[from] === long[from]) from += 1;
    while (to < short.length - from && short.at(-1 - to) === long.at(-1 - to)) to += 1;
    const [a, b] = [short.slice(from, short.length - to), long.slice(from, long.length - to)];
    return b.length < 2 || (a.length === 2 && a === b[1] + b[0]);
  };

  /* The words of the book that one of the query stands for, each with what it is worth. */
  const forms = ({ tokens, stems }, term) => {
    const same = stems.get(stem(term)) ?? [];
    const start = singular(term), less = same.length ? (start.length < 4 ? 0 : 0.3) : 1;
    const longer = less && start.length > 1 ? [...tokens.keys()].filter((token) => token.startsWith(start)) : [];
    return new Map([...longer.map((token) => [token, less]), ...same.map((token) => [token, 1])]);
  };

  /* A word that the book does not have: what was meant by it, be it two words or one with a slip. */
  const meant = ({ tokens }, term) => {
    for (let i = 3; i < term.length - 2; i += 1) {
      const two = [term.slice(0, i), term.slice(i)];
      if (two.every((one) => (tokens.get(one)?.size ?? 0) > 2)) return two;
    }
    if (term.length < 5) return [term];
    const often = [...tokens].filter(([token]) => near(token, term)).sort(([, a], [, b]) => b.size - a.size);
    return often.length ? [often[0][0]] : [term];
  };

  const read = (data, query) => {
    const known = indexed(data), terms = split(folded(query));
    return terms.flatMap((term) => (STOP.has(term) || forms(known, term).size ? [term] : meant(known, term)));
  };

  /* Where each word of the query stands, by how much it tells: the rarer, the more. */
  const standing = (known, term) => {
    const at = new Map();
    for (const [token, much] of forms(known, term))
      for (const [place, weight] of known.tokens.get(token)) at.set(place, (at.get(place) ?? 0) + much * weight);
    return { at, tells: Math.log(1 + (known.places.length - at.size + 0.5) / (at.size + 0.5)) };
  };

  const ranked = (data, terms) => {
    const known = indexed(data), sought = [...new Set(telling(terms))].map((term) => standing(known, term)).filter(({ at }) => at.size);
    const all = sought.reduce((sum, { tells }) => sum + tells, 0);
    const scores = new Map();
    for (const { at, tells } of sought)
      for (const [place, weight] of at) {
        const [score, met] = scores.get(place) ?? [0, 0];
        scores.set(place, [score + tells * weight / (SOON + weight), met + tells]);
      }
    const asked = key(terms), partly = new Map();
    for (const { key: name, at } of known.named)
      if (` ${asked} `.includes(` ${name} `)) partly.set(at, Math.max(partly.get(at) ?? 0, name.length / asked.length));
    const pairs = terms.slice(1).map((term, i) => ` ${terms[i]} ${singular(term)}`);
    const most = Math.max(...[...scores.values()].map(([, met]) => met));
    const first = [...scores].filter(([, [, met]]) => met > most / 2).map(([at, [score, met]]) =>
      ({ ...known.places[at], score: score * met / all * known.places[at].worth * (1 + (partly.get(at) ?? 0)) }));
    const best = first.sort((a, b) => b.score - a.score).slice(0, 200); // to look for pairs takes the longest
    for (const place of best) place.score *= together(place, pairs);
    return best.sort((a, b) => b.score - a.score);
  };

  /* Words that stand beside each other as they do in the query tell more than the same ones apart. */
  const together = (place, pairs) => pairs.reduce((more, pair) => more
    + (count(place.title + place.names, pair) ? 1 : 0) + (count(place.text, pair) ? 0.2 : 0) / pairs.length, 1);

  const address = (place, terms = "") => {
    const mark = terms ? `?highlight=${encodeURIComponent(terms)}` : "";
    return `${place.page.uri}${mark}${place.anchor ? "#" + place.anchor : ""}`;
  };

  /* Things with a name or a number of their own. Of formulas the first comes first,
     where what is in it was introduced; then the shortest, which say most about it. */
  const GREEK = Object.fromEntries([..."αβγδεζηθικλμνξπρστυφχψω"].map((letter, i) => [letter, `\\${split(`alpha beta gamma
    delta varepsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi omega`)[i]}`]));
  const tex = (source) => source.replace(/[α-ω]/g, (letter) => GREEK[letter] ?? letter)
    .replace(/\\(left|right|mathbf|boldsymbol|bm|mathrm)(?![a-z])|[{}\s]/g, "");

  const equations = (data, query) => {
    const number = query.match(/^\(?(\d+\.\d+)\)?$/)?.[1];
    const label = /^(equation-)?eq-/.test(query) ? query.replace(/^equation-/, "") : null;
    const latex = /\\|\^|(^|[^\p{L}\p{N}])\p{L}_/u.test(query) ? tex(query) : null;
    if (!number && !label && !latex) return [];
    const met = data.pages.flatMap((page) => page.sections.flatMap((section) => section.equations
      .filter(([anchor, its, source]) => its === number || (label && anchor.startsWith(`equation-${label}`))
        || (latex && tex(source).includes(latex)))
      .map(([anchor, its, source]) => ({ page, section, anchor, number: its, latex: source }))));
    const long = (hit) => (label ? hit.anchor.length : hit === met[0] ? 0 : hit.latex.length);
    return met.sort((a, b) => long(a) - long(b));
  };

  const objects = (data, query) => {
    const wanted = bare(query).replace(/[()\s]+$/, "").replace(/^gp\./, "");
    if (wanted.length < 3 || /\s/.test(wanted)) return [];
    const spelt = /[A-Z.]/.test(query) ? 2000 : 0.5; // who writes capitals or a path means them
    const far = ({ section: { title }, name }) =>
      title.length + (bare(title).endsWith(`.${wanted}`) ? 0 : 1000) + (name.endsWith(query) ? 0 : spelt);
    return data.pages.flatMap((page) => page.sections.flatMap((section) => section.objects
      .filter(([, name]) => bare(name) === wanted || bare(name).endsWith(`.${wanted}`))
      .map(([anchor, name]) => ({ page, section, anchor, name })))).sort((a, b) => far(a) - far(b));
  };

  const names = (data, terms) => {
    const hit = new Set(indexed(data).named.filter(({ key: name }) => name === key(terms)).map(({ entry }) => entry));
    return [...hit].map((entry) => {
      const page = data.pages[entry.page], section = page.sections[entry.section];
      return { page, section, anchor: section.anchor, entry };
    });
  };

  const places = (data, terms, most) => ranked(data, terms).slice(0, most).map((place) => ({ ...place, anchor: place.section.anchor }));

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
  const ofName = (query) => (hit) => {
    const { here, says = "" } = hit.entry;
    const same = key(split(word(here))) === key(split(word(query)));
    const said = `${same ? "" : `“${query}” stands here under “${here}”. `}${says}`;
    const made = entry(hit.section.title || hit.page.title, address(hit, here), where(hit),
      make("p", { className: "book-excerpt" }, said), excerpt(hit.section.text, here));
    return Object.assign(made, { className: "book-known" });
  };
  const ofPlace = (terms) => (hit) => entry(hit.section.title || hit.page.title, address(hit, terms),
    hit.section.title === hit.page.title ? null : where(hit),
    excerpt(hit.section.text, terms) ?? excerpt(hit.section.code, terms));

  /* Whoever types a name of the code wants that; a word of the language leads to the text first. What was
     found in two ways stands where it was found first. */
  const found = (data, query, most) => {
    const terms = read(data, query), shown = new Set();
    const fresh = (hits) => hits.filter((hit) => {
      const at = address(hit);
      return !shown.has(at) && shown.add(at);
    });
    const known = fresh(names(data, terms)).map(ofName(query));
    const formulas = fresh(equations(data, query)).map(ofEquation);
    const text = () => fresh(places(data, terms, most)).map(ofPlace(telling(terms).join(" ")));
    const code = () => fresh(objects(data, query)).map(ofObject);
    if (/[(_.]|[a-z].*[A-Z\d]|[A-Z].*[A-Z].*[a-z]/.test(query)) return [...known, ...formulas, ...code(), ...text()];
    const said = text();
    return [...known, ...formulas, ...said.slice(0, 3), ...code(), ...said.slice(3)];
  };

  window.bookFind = (query, most = 60) => found(window.bookSearch, query, most);

  /* How many there are, and what was looked for, where no word is as it was typed. */
  const said = (number, query) => {
    const typed = split(folded(query)).join(" "), terms = read(window.bookSearch, query).join(" ");
    const places = `${number} ${number === 1 ? "place" : "places"} for “${query}”${typed === terms ? "" : `, read as “${terms}”`}.`;
    return make("p", { className: "search-summary", role: "status" },
      number ? places : `Nothing for “${query}”. Try fewer words, the index, or the number of an equation.`);
  };

  /* Formulas are set, in their letters, before a list is shown: nothing in it moves. Without them it comes as well. */
  const ready = async (list) => {
    const set = window.MathJax?.typesetPromise?.([list]);
    const letters = /\\[([]/.test(list.textContent) && document.fonts.load('1em "Book Math"');
    await Promise.allSettled([set, letters]);
  };

  let latest = 0;
  const show = async (query) => {
    const box = document.getElementById("search-results");
    if (!query || !box || !window.bookSearch) return;
    document.title = `${query} - Search - gpnotes`;
    const entries = window.bookFind(query);
    const list = make("ol", { className: "search" }, ...entries);
    const mine = ++latest;
    await ready(list);
    if (mine === latest) box.replaceChildren(said(entries.length, query), list);
  };

  /* What the address asks for; then what is typed, which the address follows. */
  const start = () => {
    const query = (new URLSearchParams(location.search).get("q") ?? "").trim();
    document.querySelectorAll("form.bd-search input").forEach((input) => { input.value = query; });
    show(query);
    const field = document.querySelector(".bd-search-container form.bd-search input");
    let timer = 0;
    field?.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        const typed = field.value.trim();
        show(typed);
        try { history.replaceState(null, "", `?q=${encodeURIComponent(typed)}`); } catch (refused) { /* on file:// some browsers do */ }
      }, 200);
    });
  };
  if (!document.querySelector(".bd-search-container")) return;
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
