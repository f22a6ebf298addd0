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

  // The formulas that MathJax has set and that the selection touches, in reading order.
  const touched = (selection) => {
    const math = window.MathJax?.startup?.document?.math ?? [];
    return [...math].filter(
      (item) => item.typesetRoot?.isConnected && selection.containsNode(item.typesetRoot, true),
    );
  };

  const written = (item) => {
    const node = document.createElement(item.display ? "div" : "span");
    node.textContent = item.display ? `$$${item.math}$$` : `$${item.math}$`;
    return node;
  };

  // A set formula is drawn and has no text: put its LaTeX where it stands.
  const withLatex = (selection, items) => {
    const box = document.createElement("div");
    for (let i = 0; i < selection.rangeCount; i += 1) {
      box.append(selection.getRangeAt(i).cloneContents());
    }
    const drawn = [...box.querySelectorAll("mjx-container")].filter(
      (node) => !node.parentElement.closest("mjx-container"),
    );
    if (drawn.length !== items.length) return null;
    drawn.forEach((node, i) => (node.closest("span.math") ?? node).replaceWith(written(items[i])));
    return box;
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
    const items = selection && !selection.isCollapsed ? touched(selection) : [];
    const box = items.length ? withLatex(selection, items) : null;
    if (!box) return;
    event.clipboardData.setData("text/html", box.innerHTML);
    event.clipboardData.setData("text/plain", asText(box));
    event.preventDefault();
  };

  document.addEventListener("copy", copy);
  document.addEventListener("DOMContentLoaded", save);
})();
