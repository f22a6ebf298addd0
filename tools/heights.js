/* What stands on a page, and how high: run in the page by heights.py. Every stretch of the page
   belongs to the block that it begins with, so that the heights add up to the whole. */
() => {
  const article = document.querySelector("article") ?? document.body;
  const box = (e) => e.getBoundingClientRect();
  const top = (e) => box(e).top + window.scrollY;
  const hidden = (e) => {
    for (let d = e.closest("details"); d; d = d.parentElement.closest("details")) {
      if (!d.open && !d.querySelector(":scope > summary")?.contains(e)) return true;
    }
    return !e.checkVisibility() || box(e).height < 1;
  };

  const least = (drawn) => (drawn.closest(".in-brief") ? 50 : 100); // a box shows its figure small
  const picture = (e) => [...e.querySelectorAll("img, svg, canvas, video")].some(
    (drawn) => !drawn.closest("math, button, a.headerlink") && !hidden(drawn) && box(drawn).height > least(drawn),
  );
  const CHECKS = /\bchapter\.(check|define|refute|source|ledger|symbols)\(|^def (\w+_numbers|problem)\(/m;
  const checks = (e) => e.matches(".tag_evidence, .eqn-evidence") || e.querySelector(".eqn-line")
    || CHECKS.test(e.querySelector(".cell_input")?.textContent ?? "");

  const kind = (e) => {
    if (e.matches(".eqn-workshop, .eqn-switch")) return "evidence, folded";
    if (e.matches("div.cell, .eqn-evidence") && checks(e)) return "machinery";
    if (picture(e)) return "figures";
    if (e.matches("div.cell, div.highlight, div[class*=highlight-], details.hide")) return "code";
    if (e.matches("div.math, .eqn-equation, .amsmath")) return "equations";
    return "prose";
  };
  const BLOCKS = "div.cell, div[class*=highlight-], .eqn-equation, div.math, .eqn-evidence, .eqn-workshop,"
    + " .eqn-switch, figure, a.in-brief-picture, p, ul, ol, dl, table, blockquote, h1, h2, h3, h4, [data-gp-playground], .gp-playground";
  const all = [...article.querySelectorAll(BLOCKS)].filter((e) => !hidden(e));
  const blocks = all.filter((e) => !e.parentElement.closest(BLOCKS));

  const begins = top(article);
  const ends = begins + box(article).height;
  const starts = [begins];
  blocks.slice(1).forEach((e) => starts.push(Math.min(ends, Math.max(starts.at(-1), top(e)))));
  starts.push(ends);
  const heights = {};
  const machinery = [];
  blocks.forEach((e, i) => {
    const height = starts[i + 1] - starts[i];
    const what = kind(e);
    heights[what] = (heights[what] ?? 0) + height;
    if (what === "machinery") machinery.push([Math.round(height), e.textContent.trim().split("\n")[0]]);
  });

  const drawn = blocks.filter((e) => kind(e) === "figures").map((e) => {
    const seen = [...e.querySelectorAll("img, svg, canvas, video")].filter((s) => !hidden(s) && box(s).height > least(s));
    const places = seen.map((s) => [top(s), top(s) + box(s).height]);
    const names = [...e.querySelectorAll("[id]"), e].map((s) => s.id).filter(Boolean);
    return { names, top: Math.min(...places.map((p) => p[0])), end: Math.max(...places.map((p) => p[1])) };
  });
  const heading = (y) => {
    const above = [...article.querySelectorAll("h1, h2, h3")].filter((h) => !hidden(h) && top(h) <= y + 1);
    return (above.at(-1)?.textContent ?? "").replace(/[#\s]+$/, "");
  };
  const edges = [begins, ...drawn.flatMap((d) => [d.top, d.end]), ends];
  const gaps = [];
  for (let i = 0; i < edges.length; i += 2) gaps.push([edges[i + 1] - edges[i], heading(edges[i]), heading(edges[i + 1])]);
  gaps.sort((a, b) => b[0] - a[0]);
  return { height: ends - begins, begins, heights, machinery, figures: drawn, gaps };
}
