/* MathJax with the files that the book ships, and no others.

   Its menu can turn on speech, collapsible mathematics and a second renderer. Each asks for files
   that are not here, and the setting is stored: after one click no page would be typeset again.
   So those entries go, and stored settings of theirs are forgotten before MathJax reads them.
   The hidden MathML that screen readers use is there without any of it. */

(() => {
  const STORED = "MathJax-Menu-Settings";
  const SHIPPED = new Set([
    "texHints", "semantics", "zoom", "zscale", "alt", "cmd", "ctrl", "shift", "scale",
    "inTabOrder", "assistiveMml",
  ]);
  const ACCESSIBILITY = new Set(["InTabOrder", "AssistiveMml"]);

  function forget() {
    try {
      const stored = Object.entries(JSON.parse(localStorage.getItem(STORED)) ?? {});
      const kept = stored.filter(([name]) => SHIPPED.has(name));
      if (kept.length < stored.length)
        localStorage.setItem(STORED, JSON.stringify(Object.fromEntries(kept)));
    } catch (error) {
      try { localStorage.removeItem(STORED); } catch (denied) { /* then nothing is stored */ }
    }
  }

  function keep(menu, wanted) {
    for (const item of [...menu.items]) if (!wanted(item)) item.hide();
  }

  function trim() {
    const menu = MathJax.startup.document.menu?.menu;
    if (!menu) return;
    keep(menu.findID("Accessibility").submenu, (item) => ACCESSIBILITY.has(item.id));
    const settings = menu.findID("Settings").submenu;
    const rule = settings.items.findIndex((item) => item.id === "Renderer") + 1;
    keep(settings, (item) => item.id !== "Renderer" && item !== settings.items[rule]);
  }

  /* A chapter has hundreds of formulas, and setting them at once would hold the page for seconds. They
     are set a few at a time, those in sight first, and the reader's hands go before the rest. Whoever
     waits for `MathJax.startup.promise` finds all of them set; so does the printer. */
  const pause = () => new Promise((go) => setTimeout(go));
  const PIECE = 50;  // milliseconds, about

  function near(element) {
    const box = element.getBoundingClientRect();
    return box.width > 0 && box.bottom > -innerHeight / 2 && box.top < 1.5 * innerHeight;
  }

  async function inPieces() {
    const waiting = new Set([...document.querySelectorAll(".math")].filter((element) =>
      !element.querySelector("mjx-container") && !element.parentElement.closest(".math")));
    const set = (elements) => {
      MathJax.typeset(elements);
      elements.forEach((element) => waiting.delete(element));
    };
    addEventListener("beforeprint", () => waiting.size && set([...waiting]));
    await new Promise((go) => requestAnimationFrame(() => setTimeout(go)));
    for (let many = 12; waiting.size; await pause()) {
      const first = [...waiting].filter(near);
      const start = performance.now();
      set((first.length ? first : [...waiting]).slice(0, many));
      const factor = PIECE / (performance.now() - start);
      // What a piece moves is laid out again, all of a long table: out of sight, pieces are not small.
      const least = first.length ? 6 : 40;
      many = Math.max(least, Math.min(10 * least, Math.round(many * Math.min(2, factor))));
    }
  }

  forget();
  const config = (window.MathJax ??= {});
  const options = (config.options ??= {});
  const menu = (options.menuOptions ??= {});
  // A chapter has hundreds of formulas: with the keyboard one could not cross it.
  menu.settings = { inTabOrder: false, ...menu.settings };
  const startup = (config.startup ??= {});
  startup.typeset = false;
  const after = startup.pageReady ?? (() => MathJax.startup.defaultPageReady());
  startup.pageReady = () => { trim(); return after().then(inPieces); };
})();
