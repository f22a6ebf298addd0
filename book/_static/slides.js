// The box of a chapter as slides. The leaflet has all boxes, and opens the slides that the address names.
(() => {
  "use strict";

  const made = (name, ...children) => {
    const element = document.createElement(name);
    element.append(...children);
    return element;
  };

  // The original keeps its anchors.
  const copied = (node) => {
    const copy = node.cloneNode(true);
    for (const one of [copy, ...copy.querySelectorAll("[id]")]) one.removeAttribute("id");
    return copy;
  };

  // A paragraph begins with its name in bold, which becomes the heading of its slide.
  const said = (paragraph, ...more) => {
    const words = copied(paragraph);
    const name = words.querySelector("strong");
    name.remove();
    return made("section", made("h2", name.textContent.replace(/\.$/, "")), words, ...more);
  };

  // The leaflet has a small picture; a slide takes the file of the chapter.
  const enlarged = (picture) => {
    const copy = copied(picture);
    const image = copy.querySelector("img");
    if (image && picture.dataset.whole) image.src = picture.dataset.whole;
    return copy;
  };

  const slidesOf = (leaf) => {
    const box = leaf.querySelector(".in-brief");
    const [picture, equation] = [".in-brief-picture", ".in-brief-equation"].map((one) => box.querySelector(one));
    const paragraphs = [...box.children].filter((one) => one.localName === "p");
    const title = made("h1", leaf.querySelector("p a").textContent);
    const rest = paragraphs.map((one, i) => (i === paragraphs.length - 2 ? said(one, copied(equation)) : said(one)));
    return [made("section", title, enlarged(picture)), ...rest];
  };

  const button = (text, label, pressed) => {
    const element = made("button", text);
    element.type = "button";
    if (label) element.setAttribute("aria-label", label);
    element.addEventListener("click", pressed);
    return element;
  };

  const BACK = ["ArrowLeft", "ArrowUp", "PageUp"];
  const ON = ["ArrowRight", "ArrowDown", "PageDown", " "];

  const open = (leaf) => {
    const slides = slidesOf(leaf);
    const count = made("output");
    let at = 0;
    const show = (wanted) => {
      at = Math.max(0, Math.min(slides.length - 1, wanted));
      slides.forEach((slide, i) => slide.classList.toggle("shown", i === at));
      count.textContent = `${at + 1} of ${slides.length}`;
      dialog.scrollTop = 0;
    };
    const bar = made(
      "nav",
      button("‹", "Previous slide", () => show(at - 1)),
      count,
      button("›", "Next slide", () => show(at + 1)),
      button("Print", "", () => window.print()),
      button("Close", "", () => dialog.close()),
    );
    const dialog = made("dialog", ...slides, bar);
    dialog.className = "slides";
    dialog.setAttribute("aria-label", `Slides: ${slides[0].textContent.trim()}`);
    // A page that begins at an anchor takes the focus away from the dialog: so the whole page is heard.
    const key = (event) => {
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      const pressed = event.key === " " && event.target.localName === "button";
      const to = { Home: 0, End: slides.length - 1 }[event.key];
      if (pressed || !(BACK.includes(event.key) || ON.includes(event.key) || to !== undefined)) return;
      event.preventDefault();
      show(to ?? at + (ON.includes(event.key) ? 1 : -1));
    };
    document.addEventListener("keydown", key);
    dialog.addEventListener("close", () => {
      document.removeEventListener("keydown", key);
      dialog.remove();
      leaf.scrollIntoView();
    });
    document.body.append(dialog);
    dialog.showModal();
    show(0);
    bar.children[2].focus();
  };

  const named = () => {
    const leaf = document.getElementById(location.hash.slice(1));
    if (leaf?.matches(".leaflet") && !document.querySelector("dialog.slides")) open(leaf);
  };

  for (const leaf of document.querySelectorAll(".leaflet")) {
    const words = "Slides";
    const opener = button(words, `${words}: ${leaf.querySelector("p a").textContent}`, () => open(leaf));
    opener.className = "slides-open";
    leaf.querySelector("p").append(" ", opener);
  }
  addEventListener("hashchange", named);
  named();
})();
