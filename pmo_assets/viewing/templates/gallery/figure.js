/* The figure view: picture with boxes, caption and panels that point at each other, place on the page, report form. */
(() => {
  "use strict";
  const { figureOf, pictureOf, captionOf, contextOf, markedText, entityLegend, toldOf, pagesOf, pageAddress, pageNumber,
    askedOf, answersOf, instructionsOf, regionsOf, countOf, shapesOf, numbersOf, phrasesIn, regionList, RegionSwitch,
    placeTags, withheldWhy } = window.PmoGallery;
  const SUBCAPTION = -1;
  const { element, svg, link, number, byId } = window.PmoGallery.elements;
  const MARK_WORDS = { undecided: "mark undecided" };

  const box = (place) => ["case", null].map((kind) => svg("rect", {
    class: kind, x: place[0] + "%", y: place[1] + "%", width: place[2] + "%", height: place[3] + "%",
  }));

  class FigureView {
    constructor(filters, reports, moved) {
      this.filters = filters;
      this.reports = reports;
      this.moved = moved;
      this.dialog = byId("viewer");
      this.body = byId("viewer-body");
      this.shown = null;
      byId("viewer-before").addEventListener("click", () => this.step(-1));
      byId("viewer-after").addEventListener("click", () => this.step(1));
      byId("viewer-close").addEventListener("click", () => this.dialog.close());
      this.dialog.addEventListener("click", (event) => { if (event.target === this.dialog) this.dialog.close(); });
      this.dialog.addEventListener("close", () => {
        this.shown = null;
        this.body.replaceChildren();
        this.moved("");
      });
      this.regions = new RegionSwitch(byId("show-regions"));
      this.follow();
    }

    get open() {
      return this.dialog.open;
    }

    place() {
      const { order, shown } = this.filters;
      return this.shown === null ? -1 : order.subarray(0, shown).indexOf(this.shown);
    }

    step(by) {
      const place = this.place() + by;
      if (this.place() < 0 || place < 0 || place >= this.filters.shown) return;
      this.show(this.filters.order[place]);
    }

    async show(f) {
      const { catalogue } = this.filters;
      this.shown = f;
      const place = this.place();
      byId("viewer-before").disabled = place <= 0;
      byId("viewer-after").disabled = place < 0 || place === this.filters.shown - 1;
      byId("viewer-place").textContent =
        place < 0 ? "not in the selection" : `${number.format(place + 1)} of ${number.format(this.filters.shown)}`;
      if (!this.dialog.open) this.dialog.showModal();
      let figure;
      try {
        figure = await figureOf(catalogue, f);
      } catch (error) {
        this.body.replaceChildren(element("p", { class: "nothing" }, error.message));
        return;
      }
      try {
        [figure.context, figure.regions, figure.asked] = await Promise.all(
          [contextOf, regionsOf, askedOf].map((of) => of(catalogue, f, figure.entry)));
      } catch (error) {
        figure.missing = error.message; // the rest is shown
      }
      if (this.shown !== f) return; // went on in the meantime
      this.fill(figure);
      this.moved(`${this.filters.articleName(figure.article.id)}/${figure.entry.cluster}`);
      if (!figure.small) return;
      try {
        const picture = await pictureOf(catalogue, f);
        const image = this.body.querySelector(".stage img");
        if (this.shown === f && image) image.src = "data:image/webp;base64," + picture;
      } catch (error) {
        byId("viewer-place").textContent = error.message; // the small picture stays
      }
    }

    fill(figure) {
      const { entry, article, small } = figure;
      const panels = entry.panels || [];
      byId("viewer-title").textContent = `${entry.label} · ${article.name}`;
      const hits = this.filters.panelHits(figure.index);
      this.regions.count(countOf(figure.regions));
      const missed = new Set(this.filters.narrows() ? panels.map((_, i) => i).filter((i) => !hits[i]) : []);
      if (missed.size === panels.length) missed.clear(); // a figure that is not in the selection
      this.body.replaceChildren(
        element("div", { class: "look" },
          element("div", { class: "follow" }, this.stage(figure, small, missed), this.under(entry)),
          pagesOf(figure, small)),
        element("div", { class: "read" }, this.head(figure), this.caption(entry, figure.context, figure.regions),
          figure.missing && element("p", { class: "sub none" }, figure.missing), this.panels(figure, missed),
          article.attribution && element("p", { class: "attribution", dir: "auto" }, article.attribution),
          this.reports.form(figure)));
      this.body.scrollTop = 0;
      placeTags(this.body.querySelector(".stage"));
      this.preload();
    }

    /** What comes next is fetched while this one is looked at. */
    preload() {
      const { order, shown, catalogue } = this.filters;
      const next = this.place() + 1;
      if (next <= 0 || next >= shown) return;
      const f = order[next];
      figureOf(catalogue, f).then(() => pictureOf(catalogue, f)).catch(() => {});
    }

    colour(i) {
      const { colours } = this.filters.catalogue.captions;
      return colours[i % colours.length];
    }

    stage({ entry, article, index, regions, asked }, small, missed) {
      const { types, marks } = this.filters.catalogue;
      const shapes = [], tags = [];
      (entry.panels || []).forEach((panel, i) => {
        const miss = missed.has(i) ? " miss" : "";
        const [colour, ink] = this.colour(i);
        for (const image of panel.images || []) {
          if (!image.box) continue;
          const [left, top, width, height] = image.box;
          const type = types[image.type];
          shapes.push(svg("g", { class: "image" + miss, "data-panels": i, "--c": type.colour, "--x": left, "--y": top,
            "--w": width, "--h": height }, box(image.box)));
          tags.push(element("span", { class: "tag type" + miss, "data-panels": i, "data-box": image.box.join(" "),
            "--c": type.colour, "--ink": type.ink,
            style: { left: left + width + "%", top: top + height + "%" } },
          type.name + (marks[image.mark] === "marked" ? " →" : "")));
        }
        for (const place of panel.identifiers || []) {
          shapes.push(svg("g", { class: "identifier", "--c": "var(--identifier)" }, box(place)));
        }
        if (panel.box) {
          shapes.unshift(svg("g", { class: "panel" + miss, "data-panels": i, "--c": colour }, box(panel.box)));
          if (panel.name) {
            tags.push(element("span", { class: "tag name" + miss, "data-panels": i, "data-box": panel.box.join(" "),
              "--c": colour, "--ink": ink,
              style: { left: panel.box[0] + "%", top: panel.box[1] + "%" } }, panel.name));
          }
        }
      });
      return element("div", { class: "stage", "--ar": entry.aspect },
        small
          ? element("img", { src: "data:image/webp;base64," + small, alt: `${entry.label} of ${article.name}` })
          : element("p", { class: "withheld" }, "Picture withheld", element("br"),
            `(${withheldWhy(this.filters, index)})`),
        svg("svg", { "aria-hidden": "true" }, shapes, regions && shapesOf(regions), asked && answersOf(asked)),
        element("div", { "aria-hidden": "true" }, tags, regions && numbersOf(regions, entry.aspect)));
    }

    under(entry) {
      const size = entry.size ? ` · ${entry.size[0]} × ${entry.size[1]} px` : "";
      return element("p", { class: "under" }, entry.cluster + size);
    }

    head({ entry, article }) {
      const first = (entry.onPages || [])[0];
      const pdf = pageAddress(article, first ? first[0] : 0);
      const where = [article.journal, article.year].filter(Boolean).join(", ");
      const numbers = this.filters.catalogue;
      const licence = numbers.licenses[this.filters.figure.license[this.shown]];
      const split = numbers.splits[this.filters.article.split[this.filters.figure.article[this.shown]]];
      const articleLink = element("a", { class: "more", href: "#" + this.filters.address({ ...this.filters.state,
        article: article.id, figure: "", page: 1 }) }, "All figures of this article");
      return [
        element("h3", { class: "paper-title", dir: "auto" },
          link(article.url, {}, article.title || article.name) || article.title || article.name),
        where && element("p", { class: "where" }, where),
        element("div", { class: "head" },
          element("span", { class: "chip " + (entry.commercial ? "good" : "warn"),
            title: entry.commercial ? "commercial use allowed" : "no commercial use" }, licence),
          split && element("span", { class: "chip" }, split),
          entry.multiPage && element("span", { class: "chip" }, "multi-page"),
          entry.sure !== undefined && element("span", { class: "chip plain", title: "confidence of the caption's split" },
            "caption ", element("span", { class: "s" }, entry.sure.toFixed(2))),
          link(article.url, { class: "chip out" }, article.name, " ↗"),
          link(pdf, { class: "chip out" }, first ? `PDF, page ${pageNumber(first[0])} ↗` : "PDF ↗"), articleLink),
      ];
    }

    caption(entry, context, regions) {
      const { catalogue } = this.filters;
      const pieces = entry.caption || [];
      if (!pieces.length) {
        const withheld = (entry.panels || []).some((panel) => panel.withheld);
        return element("p", { class: "sub none" },
          withheld ? `Caption withheld: ${withheldWhy(this.filters, this.shown)}` : "No caption");
      }
      const [panel] = entry.panels || [];
      if (!(context || regions) || !panel || panel.text !== true) return captionOf(entry, catalogue.captions);
      // The only panel has all of the caption: its words are those of the panel.
      const whole = pieces.map((piece) => (typeof piece === "string" ? piece : piece[0])).join("").trim();
      return element("p", { class: "cap", dir: "auto" }, element("span", { "data-panels": 0 },
        this.words(whole, 0, context, regions)));
    }

    /** The words of a panel with its entities and the phrases that name its marks. */
    words(text, i, context, regions) {
      const told = context && context.panels[i];
      return markedText(this.filters.catalogue, text, told ? told.marks : [], context ? context.terms : [],
        phrasesIn(regions && regions.panels[i], SUBCAPTION));
    }

    /** What filters of columns say of a panel with one value each: eye, modality. */
    values(index, i) {
      const { further, names, firstPanel } = this.filters;
      const p = firstPanel[index] + i;
      return further.flatMap((facet) => {
        const options = this.filters.optionsOf(facet, p);
        const value = names[facet.list][options[0]];
        if (facet.many || value === "none") return [];
        return [element("span", { class: "chip plain", title: facet.words[value] || null }, `${facet.title} `,
          element("span", { class: "s" }, value))];
      });
    }

    panels({ entry, article, context, index, regions, asked }, missed) {
      const { catalogue } = this.filters;
      const { types, marks, assemblies } = catalogue;
      const panels = entry.panels || [];
      if (!panels.length) return element("p", { class: "sub none" }, "No panels");
      const text = (panel, i) => {
        if (panel.text === true) return element("p", { class: "sub none" }, "The whole caption");
        if (!panel.text) return element("p", { class: "sub none" }, panel.withheld ? "Subcaption withheld" : "No subcaption");
        return element("p", { class: "sub", dir: "auto" }, this.words(panel.text, i, context, regions));
      };
      const legend = context && entityLegend(catalogue, context);
      return [legend, element("ol", { class: "panels", "aria-label": "Panels" }, panels.map((panel, i) => {
        const [colour, ink] = this.colour(i);
        return element("li", { "data-panels": i, class: missed.has(i) ? "miss" : null, "--c": colour, "--ink": ink },
          element("button", { type: "button", class: "name", "aria-pressed": "false", title: panel.id || null },
            element("span", { class: "vh" }, "Panel "), panel.name || (panels.length === 1 ? "Whole figure" : "–")),
          text(panel, i),
          regionList(regions && regions.panels[i]),
          element("div", { class: "chips" },
            (panel.images || []).map((image) => element("span", { class: "chip" },
              element("span", { class: "dot", "--c": types[image.type].colour }), types[image.type].name,
              image.score !== null && element("span", { class: "s", title: "score of the image type" }, image.score.toFixed(2)),
              "· " + (MARK_WORDS[marks[image.mark]] || marks[image.mark]))),
            !(panel.images || []).length && element("span", { class: "chip plain" }, "no image"),
            panel.score !== undefined && element("span", { class: "chip plain" }, "panel ",
              element("span", { class: "s", title: "score of the panel detection" }, panel.score.toFixed(2))),
            element("span", { class: "chip plain", title: "how the subcaption was assigned" }, assemblies[panel.assembly]),
            panel.confidence !== undefined && element("span", { class: "chip plain" }, "confidence ",
              element("span", { class: "s", title: "that the subcaption is this panel's" }, panel.confidence.toFixed(2))),
            this.values(index, i),
            panel.withheld && element("span", { class: "chip bad" }, "not redistributable")),
          toldOf(catalogue, article, context, i, regions && regions.panels[i]),
          instructionsOf(asked, i));
      }))];
    }

    // ---- panel <-> subcaption <-> part of the caption ------------------------------------------------------------
    highlight(indices) {
      this.body.classList.toggle("linking", indices.length > 0);
      for (const part of this.body.querySelectorAll("[data-panels]")) {
        part.classList.toggle("on", part.dataset.panels.split(" ").some((index) => indices.includes(index)));
      }
    }

    /** Light the marks, regions and phrases of some numbers; none for all alike. */
    point(numbers) {
      this.body.classList.toggle("pointing", this.regions.on && numbers.length > 0);
      for (const part of this.body.querySelectorAll("[data-regions]")) {
        part.classList.toggle("lit", part.dataset.regions.split(" ").some((number) => number && numbers.includes(number)));
      }
    }

    /** Draw the boxes of one instruction; of none for null. */
    answer(name) {
      for (const part of this.body.querySelectorAll("[data-asked]")) part.classList.toggle("lit", part.dataset.asked === name);
    }

    pinnedRegions() {
      return [...this.body.querySelectorAll(".region-list .number[aria-pressed=true]")]
        .map((button) => button.closest("li").dataset.regions);
    }

    pinned() {
      const button = this.body.querySelector(".name[aria-pressed=true]");
      return button ? [button.closest("li").dataset.panels] : [];
    }

    follow() {
      const over = (event) => {
        const part = event.target.closest("[data-panels]");
        this.highlight(part ? part.dataset.panels.split(" ") : this.pinned());
        const pointed = event.target.closest("[data-regions]");
        this.point(pointed ? pointed.dataset.regions.split(" ").filter(Boolean) : this.pinnedRegions());
        const asked = event.target.closest("[data-asked]");
        this.answer(asked && asked.dataset.asked);
      };
      const out = (event) => {
        if (this.body.contains(event.relatedTarget)) return;
        this.highlight(this.pinned());
        this.point(this.pinnedRegions());
        this.answer(null);
      };
      for (const kind of ["pointerover", "focusin"]) this.body.addEventListener(kind, over);
      for (const kind of ["pointerout", "focusout"]) this.body.addEventListener(kind, out);
      this.body.addEventListener("click", (event) => {
        const number = event.target.closest("button.number");
        if (number) {
          const others = this.body.querySelectorAll(".region-list .number");
          const press = number.getAttribute("aria-pressed") !== "true";
          for (const other of others) other.setAttribute("aria-pressed", String(press && other === number));
          this.point(this.pinnedRegions());
        }
        const name = event.target.closest("button.name");
        if (!name) return;
        const pressed = name.getAttribute("aria-pressed") !== "true";
        for (const other of this.body.querySelectorAll(".name")) other.setAttribute("aria-pressed", "false");
        name.setAttribute("aria-pressed", String(pressed));
        this.highlight(this.pinned());
      });
    }
  }

  Object.assign(window.PmoGallery, { FigureView });
})();
