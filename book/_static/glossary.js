/* The terms of the glossary that hold what is typed; all of them where nothing is. */
(function () {
  "use strict";

  const plain = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

  function start() {
    const box = document.querySelector(".book-filter");
    const [field, count] = [box.querySelector("input"), box.querySelector("[role=status]")];
    const entries = [...document.querySelectorAll("dl.glossary dd")].map((said) => {
      const parts = [said];
      while (parts[0].previousElementSibling?.localName === "dt") parts.unshift(parts[0].previousElementSibling);
      return { parts, text: plain(parts.map((part) => part.textContent).join(" ")), section: said.closest("section") };
    });
    field.addEventListener("input", () => {
      const words = plain(field.value).split(/\s+/).filter(Boolean);
      const open = new Set();
      let found = 0;
      entries.forEach(({ parts, text, section }) => {
        const fits = words.every((word) => text.includes(word));
        parts.forEach((part) => (part.hidden = !fits));
        if (fits) open.add(section);
        found += fits ? 1 : 0;
      });
      entries.forEach(({ section }) => (section.hidden = !open.has(section)));
      count.textContent = words.length ? `${found} of ${entries.length} terms` : "";
    });
    box.hidden = false;
  }

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
