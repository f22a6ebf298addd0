/* Paper has sections for a second reading whole: they open before formulas and figures are made ready. */
addEventListener("beforeprint", () => {
  const folded = document.querySelectorAll("details.starred-rest:not([open])");
  folded.forEach((rest) => { rest.open = true; });
  addEventListener("afterprint", () => folded.forEach((rest) => { rest.open = false; }), { once: true });
}, { capture: true });
