/* Names and types on the boxes of a figure: smaller on low boxes, and beside a figure whose boxes they would cover, with
 * a line that leads there. */
(() => {
  "use strict";
  const { svg } = window.PmoGallery.elements;
  const USUAL = 12; // pixels of the letters
  const SMALLEST = 8.5;
  const SHARE = 4; // a box as high as so many lines of letters keeps its tag inside
  const LOW = 60; // pixels of a box that a name above and a type below would mostly cover
  const EDGE = 3; // per cent: boxes so near to the figure's edge have their tags beyond it
  const LINE = 17; // pixels between two rows of tags

  /** Put tags into rows beyond an edge, none upon another; return how many rows there are. */
  const intoRows = (tags, width) => {
    const ends = [];
    for (const tag of tags) {
      const own = tag.element.offsetWidth + 4;
      const left = Math.max(0, Math.min(tag.at, width - own));
      let row = ends.findIndex((end) => end <= left);
      if (row < 0) row = ends.push(0) - 1;
      ends[row] = left + own;
      Object.assign(tag, { row, left });
    }
    return ends.length;
  };

  const place = (stage) => {
    const { clientWidth: width, clientHeight: height } = stage;
    if (!width || !height) return;
    const lines = stage.querySelector(".leaders");
    lines.replaceChildren();
    const above = [], below = [];
    for (const element of stage.querySelectorAll(".tag[data-box]")) {
      const [left, top, w, h] = element.dataset.box.split(" ").map(Number);
      const pixels = h / 100 * height;
      const usual = element.classList.contains("type") ? USUAL - 1.5 : USUAL;
      element.style.fontSize = `${Math.max(SMALLEST, Math.min(usual, pixels / SHARE))}px`; // if it stays inside
      element.classList.remove("outside");
      const isName = element.classList.contains("name");
      element.style.left = `${isName ? left : left + w}%`;
      element.style.top = `${isName ? top : top + h}%`;
      if (pixels >= LOW) continue;
      if (isName && top <= EDGE) above.push({ element, at: left / 100 * width, x: left + Math.min(w / 2, 2), y: top });
      else if (!isName && top + h >= 100 - EDGE) {
        below.push({ element, at: left / 100 * width, x: left + Math.min(w / 2, 2), y: top + h });
      }
    }
    for (const { element } of [...above, ...below]) {
      element.classList.add("outside");
      element.style.fontSize = "";
    }
    const rows = [intoRows(above, width), intoRows(below, width)];
    [above, below].forEach((tags, side) => {
      for (const { element, row, left, x, y } of tags) {
        const edge = side ? height + 5 + row * LINE : -5 - (row + 1) * LINE;
        element.style.left = `${left}px`;
        element.style.top = `${edge}px`;
        lines.append(svg("line", { x1: `${x}%`, y1: `${y}%`, x2: left + 5, y2: side ? edge : edge + LINE,
          "--c": element.style.getPropertyValue("--c") }));
      }
    });
    stage.style.marginBlock = `${rows[0] ? rows[0] * LINE + 6 : 0}px ${rows[1] ? rows[1] * LINE + 6 : 0}px`;
  };

  const watcher = new ResizeObserver((entries) => { for (const { target } of entries) place(target); });
  let watched = null;

  /** Place the tags of a figure's stage, now and whenever its size changes. */
  const placeTags = (stage) => {
    if (watched) watcher.unobserve(watched);
    watched = stage;
    stage.querySelector("svg").append(svg("g", { class: "leaders" }));
    place(stage);
    watcher.observe(stage);
  };

  Object.assign(window.PmoGallery, { placeTags });
})();
