/* The evidence of a page stands folded in the badges of its equations. Here are the switch that opens all
   of it, and what opens the fold around a place that somebody wants to see. Without this script every
   fold still opens by hand. */
(() => {
  "use strict";

  const ADDRESS = "#evidence";
  const KEY = "eqn-evidence";
  const FOLDS = "details.eqn-badge, details.eqn-workshop";

  /* What the reader chose, on every page of the book; a browser may refuse to remember. */
  const remembered = () => {
    try {
      return localStorage.getItem(KEY) === "open";
    } catch {
      return false;
    }
  };
  const remember = (open) => {
    try {
      localStorage.setItem(KEY, open ? "open" : "closed");
    } catch {
      /* then it holds for this page only */
    }
  };

  /* Open every fold around an element, and say whether one was closed. */
  const reveal = (element) => {
    let opened = false;
    for (let e = element; e; e = e.parentElement) {
      if (e.tagName === "DETAILS" && !e.open && !(e === element.parentElement && element.tagName === "SUMMARY")) {
        e.open = true;
        opened = true;
      }
    }
    return opened;
  };
  window.eqnReveal = reveal;

  const named = (hash) => {
    const name = decodeURIComponent(hash.slice(1));
    return name ? document.getElementById(name) : null;
  };

  /* Formulas above may still be on their way when the place is found, and push it down. */
  const settled = () => window.MathJax?.startup?.promise ?? Promise.resolve();

  const goTo = (hash) => {
    const place = named(hash);
    if (!place || !reveal(place)) return;
    const go = () => place.scrollIntoView({ behavior: "instant" });
    go();
    settled().then(go);
  };

  const switchOn = (page) => {
    const button = page.querySelector("button");
    const told = page.querySelector("[role=status]");
    const folds = [...document.querySelectorAll(FOLDS)];

    /* What stands at the top of the window stays there, although much opens above it. */
    const held = (change) => {
      const text = document.querySelector("article, main, [role=main]") ?? document.body;
      const stays = (e) => !e.closest("details") && e.getBoundingClientRect().height > 0;
      const below = [...text.querySelectorAll("p, h2, h3, .eqn-equation")].filter(stays);
      const seen = below.find((e) => e.getBoundingClientRect().top >= 0);
      const before = seen?.getBoundingClientRect().top ?? 0;
      change();
      const top = (seen?.getBoundingClientRect().top ?? 0) - before;
      window.scrollBy({ top, behavior: "instant" });
    };

    const show = (open) => {
      folds.forEach((fold) => { fold.open = open; });
      button.setAttribute("aria-pressed", String(open));
      document.documentElement.classList.toggle("eqn-open", open);
    };

    const toggle = () => {
      const open = button.getAttribute("aria-pressed") !== "true";
      held(() => show(open));
      told.textContent = open ? "The evidence is shown." : "The evidence is folded.";
      remember(open);
    };

    const writes = (e) => e.isContentEditable || e.closest?.("input, textarea, select, [role=application], dialog[open]");
    document.addEventListener("keydown", (event) => {
      if (event.key !== "e" || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
      if (event.defaultPrevented || writes(event.target)) return;
      toggle();
    });
    button.addEventListener("click", toggle);
    window.addEventListener("hashchange", () => location.hash === ADDRESS && show(true));
    page.hidden = false;
    if (location.hash === ADDRESS || remembered()) show(true);
  };

  const start = () => {
    document.querySelectorAll(".eqn-switch").forEach(switchOn);
    window.addEventListener("hashchange", () => goTo(location.hash));
    document.addEventListener("click", (event) => {
      const link = event.target.closest?.("a[href^='#']");
      if (link && link.hash === location.hash) goTo(link.hash);
    });
    goTo(location.hash);
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
