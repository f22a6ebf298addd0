/* What pages have of Bootstrap, in its place: the menu of downloads and the way back to the top.
   Its bubbles are not needed, since buttons have titles, which browsers show. */
(() => {
  "use strict";

  window.bootstrap = { Tooltip: class { show() {} hide() {} } }; // which the theme's script makes

  const menu = (button) => {
    const list = button.parentElement.querySelector(".dropdown-menu");
    const items = [...list.querySelectorAll(".dropdown-item")];
    const open = (is) => {
      list.classList.toggle("show", is);
      button.setAttribute("aria-expanded", String(is));
    };
    button.addEventListener("click", () => open(!list.classList.contains("show")));
    document.addEventListener("click", ({ target }) => button.contains(target) || open(false));
    button.parentElement.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (event.key === "Escape" && list.classList.contains("show")) {
        open(false);
        button.focus();
      } else if (step) {
        event.preventDefault();
        open(true);
        const next = items.indexOf(document.activeElement) + step;
        items[Math.max(0, Math.min(next, items.length - 1))].focus();
      }
    });
  };

  const backToTop = (button) => {
    let before = scrollY;
    button.addEventListener("click", () => scrollTo(0, 0));
    addEventListener("scroll", () => {
      button.style.display = before > scrollY && scrollY > innerHeight / 2 ? "block" : "none";
      before = scrollY;
    });
  };

  document.querySelectorAll('[data-bs-toggle="dropdown"]').forEach(menu);
  document.querySelectorAll("#pst-back-to-top").forEach(backToTop);
  document.querySelectorAll("[data-bs-title]").forEach((button) => { button.title ||= button.dataset.bsTitle; });
})();
