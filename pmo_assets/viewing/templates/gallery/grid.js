/* The filters' side, and the page of figures that are left. A card is filled when it comes near the window. */
(() => {
  "use strict";
  const { RANGES, figureOf, withheldWhy } = window.PmoGallery;
  const { element, number, byId } = window.PmoGallery.elements;
  const PAGE = 48;
  const MORE = 8; // options of a facet that are shown at first
  const LONG = 12; // a facet with more is looked through by words
  const NOTHING = "none"; // the last option of a filter that a column declares

  const title = (facet, name) => (name === "undecided" ? `${facet} undecided` : name);

  class FilterSide {
    constructor(filters, changed) {
      this.filters = filters;
      this.boxes = [];
      this.long = [];
      const { catalogue } = filters;
      const orders = { types: catalogue.typeOrder };
      for (const facet of filters.facets) {
        const names = filters.names[facet.list];
        const most = facet.panels || []; // most frequent first, where that is known
        const order = orders[facet.list] || names.map((_, i) => i).sort((a, b) =>
          (["marks", "pictures"].includes(facet.list) ? a - b : (facet.panels && (names[a] === NOTHING) - (names[b] === NOTHING)) ||
            (most[b] || 0) - (most[a] || 0) || names[a].localeCompare(names[b])));
        this.add(facet, names, order, changed);
      }
      for (const name of [...RANGES]) {
        ["from", "to"].forEach((end, i) => byId(`${name}-${end}`).addEventListener("input", (event) => {
          const text = event.target.value;
          filters.state[name][i] = text === "" || !Number.isFinite(Number(text)) ? null : Number(text);
          changed();
        }));
      }
      byId("journal").addEventListener("input", (event) => { filters.state.journal = event.target.value.trim(); changed(); });
      byId("journal").addEventListener("focus", () => this.offerJournals(), { once: true });
    }

    add(facet, names, order, changed) {
      const group = byId("facet-" + facet.name) || this.fieldset(facet);
      const splits = this.filters.article.split;
      const used = order.filter((i) => facet.name !== "split" || splits.includes(i));
      const pictures = this.filters.figure.picture;
      group.hidden = used.length === 0 || (facet.name === "split" && names.length < 2) ||
        (facet.name === "picture" && pictures.every((number) => number === pictures[0]));
      const list = group.querySelector(".options");
      const long = used.length > LONG ? { facet, list, open: false, options: [] } : null;
      used.forEach((i, place) => {
        const count = element("span", { class: "n" });
        const input = element("input", { type: "checkbox", onchange: (event) => {
          if (event.target.checked) this.filters.state[facet.name].add(i);
          else this.filters.state[facet.name].delete(i);
          changed();
        } });
        const colour = facet.name === "type" ? this.filters.catalogue.types[i].colour : null;
        const words = (facet.words || {})[names[i]];
        const label = element("label", { class: !long && place >= MORE ? "option rest" : "option" }, input,
          colour && element("span", { class: "dot", "--c": colour }),
          element("span", { class: "what" }, title(facet.name, names[i]), words && element("small", {}, words)), count);
        list.append(label);
        this.boxes.push({ facet: facet.name, i, input, count });
        if (long) long.options.push({ i, label, input, words: this.filters.search.words(names[i]).join(" ") });
      });
      if (long) this.addLong(group, long);
      else if (used.length > MORE + 1) {
        const more = element("button", { type: "button", class: "link", "aria-expanded": "false", onclick: () => {
          const open = list.classList.toggle("open");
          more.setAttribute("aria-expanded", String(open));
          more.textContent = open ? "Fewer" : `All ${used.length}`;
        } }, `All ${used.length}`);
        group.append(more);
      }
    }

    /** A list of hundreds: a field for words, below it the most frequent options that have them, all on demand. */
    addLong(group, long) {
      const { facet, list } = long;
      long.field = element("input", { type: "search", placeholder: "Find", "aria-label": `Find in ${facet.title}`,
        autocomplete: "off", spellcheck: "false", oninput: () => this.narrow(long) });
      long.more = element("button", { type: "button", class: "link", "aria-expanded": "false", onclick: () => {
        long.open = !long.open;
        this.narrow(long);
      } });
      list.classList.add("long");
      list.before(long.field);
      list.after(long.more);
      this.long.push(long);
    }

    /** Show of a long list what is chosen, and the most frequent options that have panels and the words typed. */
    narrow({ facet, field, options, more, list, open }) {
      const words = this.filters.search.words(field.value);
      const panels = this.options[facet.name];
      if (!list.contains(document.activeElement)) { // else what is being clicked would move away
        const last = (option) => this.filters.names[facet.list][option.i] === NOTHING;
        options.sort((a, b) => last(a) - last(b) || panels[b.i] - panels[a.i]); // stable: else as in the release
        list.append(...options.map((option) => option.label));
      }
      let left = 0;
      for (const { i, label, input, words: own } of options) {
        const fits = panels[i] > 0 && words.every((word) => ` ${own}`.includes(` ${word}`));
        if (fits) left += 1;
        label.hidden = !input.checked && !(fits && (open || left <= MORE));
      }
      list.classList.toggle("open", open);
      more.hidden = left <= MORE;
      more.textContent = open ? "Fewer" : `All ${number.format(left)}`;
      more.setAttribute("aria-expanded", String(open));
    }

    /** The place of a filter that a column declares: above what is about the release, not about what panels show. */
    fieldset(facet) {
      const group = element("fieldset", { class: "facet", id: "facet-" + facet.name },
        element("legend", {}, facet.title), element("div", { class: "options" }));
      byId("facet-split").before(group);
      return group;
    }

    offerJournals() {
      const names = this.filters.catalogue.journals.filter(Boolean).sort((a, b) => a.localeCompare(b));
      byId("journals").append(...names.map((name) => element("option", { value: name })));
    }

    /** Show what is chosen, and how many panels each option has. */
    show(options) {
      const { state } = this.filters;
      this.options = options;
      for (const { facet, i, input, count } of this.boxes) {
        input.checked = state[facet].has(i);
        const panels = options[facet][i];
        count.textContent = number.format(panels);
        input.closest("label").classList.toggle("empty", panels === 0 && !input.checked);
      }
      for (const long of this.long) this.narrow(long);
      const set = (id, text) => { if (document.activeElement !== byId(id)) byId(id).value = text; };
      for (const name of RANGES) ["from", "to"].forEach((end, i) => set(`${name}-${end}`, state[name][i] ?? ""));
      set("journal", state.journal);
      if (byId("q").value.trim() !== state.q.trim()) byId("q").value = state.q;
      byId("sort").value = state.sort;
      byId("within").value = state.in;
      const chip = byId("article");
      chip.hidden = !state.article;
      chip.querySelector("span").textContent = state.article ? this.filters.articleName(state.article) : "";
    }
  }

  class Grid {
    constructor(filters) {
      this.filters = filters;
      this.list = byId("figures");
      this.watcher = new IntersectionObserver((entries) => {
        for (const entry of entries) {
          if (!entry.isIntersecting) continue;
          this.watcher.unobserve(entry.target);
          this.fill(entry.target);
        }
      }, { rootMargin: "400px 0px" });
    }

    pages() {
      return Math.max(1, Math.ceil(this.filters.shown / PAGE));
    }

    show() {
      const { state, order, shown } = this.filters;
      state.page = Math.min(state.page, this.pages());
      const start = (state.page - 1) * PAGE;
      const figures = Array.from(order.subarray(start, Math.min(start + PAGE, shown)));
      this.watcher.disconnect();
      this.cards = figures.map((f) => this.card(f));
      this.list.replaceChildren(...this.cards.map((link) => link.parentElement));
      for (const card of this.cards) this.watcher.observe(card);
      byId("nothing").hidden = shown > 0;
      byId("pager").hidden = this.pages() < 2;
      byId("page").value = state.page;
      byId("page").max = this.pages();
      byId("pages").textContent = number.format(this.pages());
      byId("page-before").disabled = state.page <= 1;
      byId("page-after").disabled = state.page >= this.pages();
    }

    card(f) {
      const link = element("a", { class: "card waiting", href: "#", "data-figure": f },
        element("span", { class: "shot" }),
        element("span", { class: "label" }, "…"), element("span", { class: "about" }));
      element("li", {}, link);
      return link;
    }

    async fill(card) {
      const { filters } = this;
      const f = Number(card.dataset.figure);
      let shown;
      try {
        shown = await figureOf(filters.catalogue, f);
      } catch (error) {
        card.querySelector(".label").textContent = "Not loaded";
        card.querySelector(".about").textContent = error.message;
        card.classList.replace("waiting", "broken");
        return;
      }
      const { entry, article, small } = shown;
      card.href = "#" + filters.address({ figure: `${this.filters.articleName(article.id)}/${entry.cluster}` });
      const picture = small
        ? element("img", { src: "data:image/webp;base64," + small, alt: "", decoding: "async" })
        : element("span", { class: "withheld" }, "Picture withheld", element("br"),
          `(${withheldWhy(filters, f)})`);
      card.querySelector(".shot").replaceChildren(picture);
      card.querySelector(".label").replaceChildren(entry.label, element("small", {}, article.name));
      const panels = entry.panels || [];
      const hits = filters.panelHits(f).reduce((sum, hit) => sum + hit, 0);
      const types = [...new Set(panels.flatMap((panel) => (panel.images || []).map((image) => image.type)))];
      const many = `${panels.length} panel${panels.length === 1 ? "" : "s"}`;
      card.querySelector(".about").replaceChildren(
        element("span", { class: "title", dir: "auto" }, article.title || article.name),
        element("span", { class: "kinds" },
          types.map((type) => element("span", { class: "dot", "--c": filters.catalogue.types[type].colour,
            title: title("type", filters.catalogue.types[type].name) })),
          element("span", {}, filters.narrows() && hits < panels.length ? `${hits} of ${many}` : many)));
      card.classList.remove("waiting");
    }

    /** The card that has the focus; -1 if none. */
    focused() {
      return this.cards.indexOf(document.activeElement);
    }

    columns() {
      const first = this.cards[0];
      return first ? this.cards.filter((card) => card.offsetTop === first.offsetTop).length : 1;
    }
  }

  Object.assign(window.PmoGallery, { FilterSide, Grid });
})();
