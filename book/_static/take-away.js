// What one takes away from a page: its notebook as a file, and its formulas as LaTeX.
(() => {
  "use strict";

  // A link in the download menu opens a tab full of JSON unless it says that it is for saving. From
  // a disk browsers let no page save a file: there the tab stays, and the link says what to do.
  const save = () => {
    const disk = location.protocol === "file:";
    for (const link of document.querySelectorAll('.dropdown-download-buttons a[href*="_sources/"]')) {
      if (disk) {
        link.title = `${link.title}: it opens in a tab, save it from there`;
      } else {
        link.setAttribute("download", "");
        link.removeAttribute("target");
      }
    }
  };

  // A set formula is drawn and has no text: its LaTeX goes where it stands. One that the selection takes
  // a part of is taken whole.
  const written = (formula) => {
    const display = formula.localName === "div";
    const node = document.createElement(display ? "div" : "span");
    node.textContent = display ? `$$${formula.dataset.latex}$$` : `$${formula.dataset.latex}$`;
    return node;
  };

  const SET = ".math[data-latex]";
  const around = (place) => (place.nodeType === Node.ELEMENT_NODE ? place : place.parentElement).closest(SET);

  const withLatex = (selection) => {
    const box = document.createElement("div");
    for (let i = 0; i < selection.rangeCount; i += 1) {
      const range = selection.getRangeAt(i).cloneRange();
      const [first, last] = [around(range.startContainer), around(range.endContainer)];
      if (first) range.setStartBefore(first);
      if (last) range.setEndAfter(last);
      box.append(range.cloneContents());
    }
    const formulas = box.querySelectorAll(SET);
    formulas.forEach((formula) => formula.replaceWith(written(formula)));
    return formulas.length ? box : null;
  };

  // Text as the page would lay it out, which needs a place in the page.
  const asText = (box) => {
    box.style.cssText = "position: absolute; left: -200vw; width: 80rem";
    document.body.append(box);
    const text = box.innerText;
    box.remove();
    return text;
  };

  const copy = (event) => {
    const selection = document.getSelection();
    const box = selection && !selection.isCollapsed ? withLatex(selection) : null;
    if (!box) return;
    event.clipboardData.setData("text/html", box.innerHTML);
    event.clipboardData.setData("text/plain", asText(box));
    event.preventDefault();
  };

  document.addEventListener("copy", copy);
  document.addEventListener("DOMContentLoaded", save);
})();
