/* The lists at both sides keep one's place. At the left the page that is open is in sight; the one
   "On this page" follows the reader: the section that is being read is named, and in sight.

   It is the last whose heading has reached the top of the window, wherever one has jumped to. */
(() => {
  "use strict";

  /* The theme brings back where the list of pages was scrolled to before, which may be far away. */
  const keepPage = () => {
    const open = [...document.querySelectorAll(".bd-sidebar-primary nav .active > a")].pop();
    if (!open) return;
    const side = open.closest(".bd-sidebar-primary");
    const box = side.getBoundingClientRect(), its = open.getBoundingClientRect();
    const low = Math.min(box.bottom, innerHeight) - 40;
    if (its.top < box.top + 60 || its.bottom > low) side.scrollTop += its.top - box.top - box.height / 3;
  };
  addEventListener("load", () => requestAnimationFrame(keepPage));
  /* A phone shows the list when its button is pressed; the theme moves it into a dialog then. */
  addEventListener("click", ({ target }) => target.closest?.(".primary-toggle") && requestAnimationFrame(keepPage), true);

  const start = () => {
    const side = document.querySelector(".bd-sidebar-secondary");
    side?.classList.toggle("book-still", Boolean(document.querySelector(".eqn-searchable, table.book-calls")));
    const links = [...(side?.querySelectorAll("nav.page-toc a[href^='#']") ?? [])];
    const entries = links.map((link) => {
      const section = document.getElementById(decodeURIComponent(link.hash.slice(1)));
      return { link, heading: section?.querySelector("h1, h2, h3, h4, h5, h6") ?? section };
    }).filter((entry) => entry.heading);
    if (!entries.length) return;

    let now = null;
    const keepInSight = () => {
      if (side.matches(":hover, :focus-within")) return;
      const box = side.getBoundingClientRect(), its = now.getBoundingClientRect();
      if (its.top < box.top + 60 || its.bottom > Math.min(box.bottom, innerHeight) - 40)
        side.scrollTop += its.top - box.top - box.height / 3;
    };
    const follow = () => {
      // what a closed fold holds has no place of its own
      const shown = entries.filter(({ heading }) => !heading.closest("details:not([open])"));
      const read = shown.filter(({ heading }) => heading.getBoundingClientRect().top < 100);
      const here = (read.pop() ?? entries[0]).link;
      if (links.every((link) => link.classList.contains("active") === (link === here))) return;
      now = here;
      links.forEach((link) => {
        link.classList.toggle("active", link === now);
        if (link === now) link.setAttribute("aria-current", "true");
        else link.removeAttribute("aria-current");
      });
      keepInSight();
    };
    let waiting = false;
    const soon = () => {
      if (!waiting) requestAnimationFrame(() => { waiting = false; follow(); });
      waiting = true;
    };
    addEventListener("scroll", soon, { passive: true });
    addEventListener("resize", soon);
    // The theme names another section after a jump; before it is drawn, the right one is back.
    new MutationObserver(follow).observe(side, { attributes: true, subtree: true, attributeFilter: ["class"] });
    new MutationObserver(() => now && keepInSight()).observe(side, { attributes: true, attributeFilter: ["class"] });
    follow();
    giveWay(side);
  };

  /* The list is one line, as high as the bar of the text, while a badge is in the window, or half a window from it. */
  const giveWay = (side) => {
    const inSight = new Set();
    const watch = new IntersectionObserver((changes) => {
      changes.forEach(({ target, isIntersecting }) => inSight[isIntersecting ? "add" : "delete"](target));
      side.classList.toggle("book-short", inSight.size > 0);
    }, { rootMargin: "50% 0px" });
    document.querySelectorAll(".bd-article .margin").forEach((badge) => watch.observe(badge));
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
