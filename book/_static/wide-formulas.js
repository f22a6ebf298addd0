/* A formula, code or a table wider than its place is scrolled with the arrow keys, in browsers too that do not let one reach what scrolls. */
(function () {
  "use strict";

  const BOXES = ":is(.bd-article, #search-results) :is(div.math, .math-set, .eqn-set, .eqn-later, pre, .output, .pst-scrollable-table-container)";

  /* What is folded is left folded: to ask for its width would lay it out. All are asked before any is
     changed, or each would be laid out anew. */
  function reach() {
    const boxes = [...document.querySelectorAll(BOXES)].filter((box) => !box.closest("details:not([open]) > :not(summary)"));
    const wide = boxes.map((box) => box.scrollWidth > box.clientWidth && box.clientWidth > 0 && getComputedStyle(box).overflowX === "auto");
    boxes.forEach((box, i) => {
      if (wide[i]) box.tabIndex = 0;
      else if (box.tabIndex === 0) box.removeAttribute("tabindex");
    });
  }

  /* The page changes its height when something unfolds, and with the window; it may not where formulas come out of sight. */
  let asked = 0;
  const reachSoon = () => {
    clearTimeout(asked);
    asked = setTimeout(reach, 300);
  };
  new ResizeObserver(reachSoon).observe(document.querySelector(".bd-article") ?? document.body);
  document.addEventListener("formulas-set", reachSoon);
  document.fonts.addEventListener("loadingdone", reachSoon);
})();
