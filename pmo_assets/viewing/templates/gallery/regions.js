/* Marks of a figure and what they show, drawn over its picture, and the phrases that name them in the marks' colours. */
(() => {
  "use strict";
  const { data } = window.PmoGallery;
  const { element, svg } = window.PmoGallery.elements;
  const PLACE = "pmo-gallery-regions"; // where the browser keeps that they are shown
  const BARB = 150, LENGTH = 9; // of the strokes that tell a direction: degrees from it, pixels
  const LABEL = 18; // pixels of a number's label

  /** Promise of what is known of the marks of a figure's panels; null when nothing is. */
  const regionsOf = async (catalogue, f, entry) => {
    if (!entry.pointed) return null;
    const per = catalogue.perFile.figures;
    return (await data.load("regions", Math.floor(f / per)))[f % per];
  };

  const countOf = (regions) =>
    regions ? regions.panels.reduce((sum, panel) => sum + (panel ? panel.marks.length : 0), 0) : 0;

  const colours = (panel, mark) => (mark === null ? {} : { "--c": panel.marks[mark].colour, "--ink": panel.marks[mark].ink });

  const twice = (make) => [make("case"), make("line")];

  /** The outline of a mark by its kind, a few pixels around it, so that the mark stays visible. */
  const outline = ({ kind, place: [x, y, w, h] }) => {
    if (kind === "circle") return twice((name) => svg("ellipse", { class: name }));
    if (kind !== "asterisk") return twice((name) => svg("rect", { class: name }));
    return svg("svg", { x: `${x - w / 4}%`, y: `${y - h / 4}%`, width: `${1.5 * w}%`, height: `${1.5 * h}%`, viewBox: "0 0 2 2",
      preserveAspectRatio: "none" }, twice((name) => svg("polygon", { class: name, points: "1,0 2,1 1,2 0,1" })));
  };

  const tip = ({ tip: at, direction }) => {
    if (!at) return null;
    const strokes = direction === null ? "" : [BARB, -BARB].map((turn) => {
      const angle = ((direction + turn) * Math.PI) / 180;
      return `M0 0L${(LENGTH * Math.cos(angle)).toFixed(1)} ${(-LENGTH * Math.sin(angle)).toFixed(1)}`;
    }).join("");
    return svg("svg", { class: "tip", x: at[0] + "%", y: at[1] + "%" },
      strokes && twice((name) => svg("path", { class: name, d: strokes })), twice((name) => svg("circle", { class: name })));
  };

  const sized = ([x, y, w, h]) => ({ "--x": x, "--y": y, "--w": w, "--h": h });

  /** What is drawn over the picture; each part tells the numbers of its regions, its panel hears of the mouse as well. */
  const shapesOf = (regions) => {
    const shapes = [];
    regions.panels.forEach((panel, i) => {
      if (!panel) return;
      for (const region of panel.regions) {
        shapes.push(svg("g", { class: "region", "data-regions": region.number, "data-panels": i, ...colours(panel, region.mark),
          ...sized(region.place) }, twice((name) => svg("rect", { class: name }))));
      }
      for (const mark of panel.marks) {
        shapes.push(svg("g", { class: `mark ${mark.kind}`, "data-regions": mark.numbers.join(" "), "--c": mark.colour,
          "--ink": mark.ink, ...(mark.place ? sized(mark.place) : {}) }, mark.place && outline(mark), tip(mark)));
      }
    });
    return svg("g", { class: "regions" }, shapes);
  };

  const overlap = (a, b) => Math.max(0, Math.min(a[0] + a[2], b[0] + b[2]) - Math.max(a[0], b[0]))
    * Math.max(0, Math.min(a[1] + a[3], b[1] + b[3]) - Math.max(a[1], b[1]));

  /** The width of the stage in pixels, before it is there: see figure.css. */
  const stageWidth = (aspect) =>
    Math.min(innerWidth > 900 ? 0.55 * innerWidth : innerWidth - 30, 0.54 * innerHeight * aspect);

  /** Numbers of regions, each beside its region, where it covers the least of marks, regions and other numbers. */
  const numbersOf = (regions, aspect) => {
    const panels = regions.panels.filter(Boolean);
    const taken = panels.flatMap((panel) => [...panel.regions, ...panel.marks].map((item) => item.place).filter(Boolean));
    const stage = stageWidth(aspect);
    const height = (100 * LABEL * aspect) / stage;
    return panels.flatMap((panel) => panel.regions.map(({ number, place: [x, y, w, h], mark }) => {
      const width = (100 * LABEL * (0.6 + 0.4 * String(number).length)) / stage;
      const sides = [ // corner of the region, and which way from there, in sizes of the label
        [x, y, 0, -1], [x + w, y, 0, 0], [x, y, -1, 0], [x, y + h, 0, 0], [x + w, y, -1, -1], [x + w, y + h, 0, -1],
      ];
      const spots = sides.map(([left, top, across, down]) => [left + across * width, top + down * height, width, height]);
      const covered = spots.map((spot) => width * height - overlap(spot, [0, 0, 100, 100])
        + taken.reduce((sum, other) => sum + overlap(spot, other), 0));
      const best = covered.indexOf(Math.min(...covered));
      taken.push(spots[best]);
      const [left, top, across, down] = sides[best];
      return element("span", { class: "tag number", "data-regions": number, ...colours(panel, mark),
        style: { left: left + "%", top: top + "%", transform: `translate(${100 * across}%,${100 * down}%)` } }, number);
    }));
  };

  /** Phrases of a text: of the subcaption, mention -1, or of a mention. */
  const phrasesIn = (panel, mention) => (panel ? panel.phrases.filter((phrase) => phrase.mention === mention) : [])
    .map((phrase) => ({ ...phrase, colours: colours(panel, phrase.mark) }));

  /** A phrase around its parts; without regions of its own it has a frame only. */
  const phraseOf = (phrase, parts) => {
    const doubt = phrase.undecided ? (phrase.numbers.length ? "undecided: " : "no mark: ") + phrase.undecided : null;
    return element("span", { class: phrase.mark === null ? "phrase unmarked" : "phrase", title: doubt,
      "data-regions": phrase.numbers.join(" "), ...phrase.colours },
    phrase.told && element("b", { class: "number" }, phrase.told), parts);
  };

  /** The regions of a panel as a list: number, the words, the mark; null without any. */
  const regionList = (panel) => {
    if (!panel || !panel.regions.length) return null;
    return element("ul", { class: "region-list", "aria-label": "Regions" }, panel.regions.map((region) => {
      const mark = region.mark === null ? null : panel.marks[region.mark];
      return element("li", { "data-regions": region.number, ...colours(panel, region.mark) },
        element("button", { type: "button", class: "number", "aria-pressed": "false" },
          element("span", { class: "vh" }, "Region "), region.number),
        element("span", { dir: "auto" }, region.words.length ? region.words.join("; ") : "no words name it"),
        mark && element("span", { class: "chip plain" }, `${mark.words} `,
          element("span", { class: "s", title: "confidence of the region" }, region.sure.toFixed(2))));
    }));
  };

  /** The switch of marks and regions: off until a reader turns it on, and as they left it when they come again. */
  class RegionSwitch {
    constructor(button) {
      this.button = button;
      button.addEventListener("click", () => this.turn(!this.on));
      this.turn(this.stored());
    }

    stored() {
      try {
        return localStorage.getItem(PLACE) === "true";
      } catch {
        return false; // no storage here: off
      }
    }

    turn(on) {
      this.on = on;
      this.button.setAttribute("aria-pressed", String(on));
      document.body.classList.toggle("show-regions", on);
      try {
        localStorage.setItem(PLACE, String(on));
      } catch { /* no storage here: as long as the page */ }
    }

    /** Say how many marks the figure has. */
    count(marks) {
      this.button.querySelector(".n").textContent = marks ? `(${marks})` : "(none)";
    }
  }

  Object.assign(window.PmoGallery, { regionsOf, countOf, shapesOf, numbersOf, phrasesIn, phraseOf, regionList, RegionSwitch });
})();
