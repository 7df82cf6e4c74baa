/* Instructions about panels: who asks and answers, and what the answer rests on; its boxes are drawn while one is looked at. */
(() => {
  "use strict";
  const { data } = window.PmoGallery;
  const { element, svg, plural } = window.PmoGallery.elements;
  const KINDS = { yes_no: "yes or no" };

  /** Promise of the instructions about a figure's panels; null without any. */
  const askedOf = async (catalogue, f, entry) => {
    if (!entry.asked) return null;
    const per = catalogue.perFile.figures;
    return (await data.load("instructions", Math.floor(f / per)))[f % per];
  };

  /** What answers speak of in the picture: each box hears of its instruction by the name of both. */
  const answersOf = (asked) => svg("g", { class: "answers" }, asked.panels.flatMap((panel, i) => (panel || []).flatMap(
    (item, k) => item.places.flatMap(([x, y, w, h]) => ["case", "line"].map((kind) => svg("rect", { class: kind,
      "data-asked": `${i}-${k}`, x: x + "%", y: y + "%", width: w + "%", height: h + "%" }))))));

  const textOf = ([name, parts]) => element("p", { class: "rests" }, element("i", {}, name), " ",
    element("span", { dir: "auto" }, parts.map((part) =>
      (typeof part === "string" ? part : element("mark", { class: "evidence" }, part[0])))));

  /** The instructions of a panel in a part that opens; null without any. */
  const instructionsOf = (asked, i) => {
    const own = asked && asked.panels[i];
    if (!own) return null;
    const list = element("ol", { class: "instructions" });
    const fill = () => {
      if (list.firstChild) return;
      list.append(...own.map((item, k) => element("li", { "data-asked": `${i}-${k}`, tabindex: item.places.length ? 0 : null },
        item.turns.map(([answers, words]) => element("p", { class: answers ? "sub answer" : "sub" },
          element("b", {}, answers ? "A" : "Q"), " ", element("span", { dir: "auto" }, words))),
        item.texts.map(textOf),
        element("p", { class: "from" }, element("span", { class: "section" }, KINDS[item.kind] || item.kind),
          item.others.map((words) => element("span", {}, words))))));
    };
    return element("details", { class: "told asked", ontoggle: fill },
      element("summary", {}, plural(own.length, "instruction")), list);
  };

  Object.assign(window.PmoGallery, { askedOf, answersOf, instructionsOf });
})();
