/* Puts the parts together: filters, address, grid, figure view, keyboard, lists of ids. */
(() => {
  "use strict";
  const { data, Search, Filters, FilterSide, Grid, FigureView, Reports, Export, idsOf } = window.PmoGallery;
  const { count, byId, element, number, announce } = window.PmoGallery.elements;
  const TYPING = 120; // milliseconds without a key before it counts

  const start = (catalogue) => {
    const filters = new Filters(catalogue, new Search(catalogue));
    let opened = null; // the card or control that led to the figure view

    const address = (changes) => "#" + filters.address(changes);
    const replaceAddress = () => {
      const hash = address();
      if (hash !== "#" || location.hash) history.replaceState(history.state, "", hash);
    };

    // ---- grid and filters ----------------------------------------------------------------------------------------
    const grid = new Grid(filters);
    const evaluate = () => {
      const left = filters.evaluate();
      const total = catalogue.counts;
      byId("count").replaceChildren(element("strong", {}, count(left.panels, total.panels, "panel")),
        ` · ${count(left.figures, total.figures, "figure")} · ${count(left.articles, total.articles, "article")}`);
      side.show(left.options);
      const active = filters.active();
      byId("active-filters").textContent = active ? ` (${active})` : "";
      byId("reset").hidden = active === 0 && !filters.state.q.trim();
      byId("open-export").disabled = left.panels === 0;
      byId("nothing").textContent = total.figures ? "No figure matches these filters." : "There are no figures yet.";
      grid.show();
    };
    const apply = async () => {
      byId("figures").setAttribute("aria-busy", "true");
      try {
        await filters.find();
        evaluate();
      } catch (error) {
        announce(error.message);
        byId("count").textContent = error.message;
      } finally {
        byId("figures").removeAttribute("aria-busy");
      }
    };
    let timer = 0;
    const changed = () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        filters.state.page = 1;
        apply().then(replaceAddress);
      }, TYPING);
    };
    const side = new FilterSide(filters, changed);
    byId("q").addEventListener("input", (event) => { filters.state.q = event.target.value; changed(); });
    byId("within").hidden = !filters.search.hasSentences;
    byId("within").addEventListener("change", (event) => { filters.state.in = event.target.value; changed(); });
    byId("sort").addEventListener("change", (event) => { filters.state.sort = event.target.value; changed(); });
    byId("article").addEventListener("click", () => { filters.state.article = ""; changed(); byId("q").focus(); });
    byId("reset").addEventListener("click", () => {
      filters.clear();
      for (const input of document.querySelectorAll("#side input")) if (input.type !== "checkbox") input.value = "";
      changed();
      byId("q").focus();
    });
    byId("open-filters").addEventListener("click", (event) => {
      const open = document.body.classList.toggle("filtering");
      event.currentTarget.setAttribute("aria-expanded", String(open));
    });
    byId("search").addEventListener("submit", (event) => event.preventDefault());

    // ---- pages of the grid ---------------------------------------------------------------------------------------
    const toPage = (page, focus) => {
      const next = Math.min(Math.max(1, page), grid.pages());
      if (next === filters.state.page) return;
      filters.state.page = next;
      grid.show();
      replaceAddress();
      window.scrollTo({ top: 0 });
      if (focus) grid.cards[focus === "last" ? grid.cards.length - 1 : 0].focus();
      announce(`Page ${number.format(next)} of ${number.format(grid.pages())}`);
    };
    byId("page-before").addEventListener("click", () => toPage(filters.state.page - 1));
    byId("page-after").addEventListener("click", () => toPage(filters.state.page + 1));
    byId("page").addEventListener("change", (event) => toPage(Math.round(Number(event.target.value)) || 1));

    // ---- figure view ---------------------------------------------------------------------------------------------
    const reports = new Reports(catalogue);
    const view = new FigureView(filters, reports, (figure) => {
      const before = filters.state.figure;
      filters.state.figure = figure;
      if (figure && !before && location.hash !== address()) history.pushState({ view: true }, "", address());
      else replaceAddress();
      if (!figure) {
        const card = grid.cards.find((other) => other === opened) || opened;
        if (card && card.isConnected) card.focus();
      }
    });
    /** The number of the figure that an address names; null when there is none. */
    const figureNamed = async (name) => {
      const parts = /^(?:PMC|article )?(\d+)\/(.+)$/is.exec(name);
      const article = parts ? filters.articles.indexOf(parts[1]) : -1;
      for (let f = 0; article >= 0 && f < filters.figure.article.length; f += 1) {
        if (filters.figure.article[f] === article && (await idsOf(catalogue, f)).cluster === parts[2]) return f;
      }
      return null;
    };
    const showNamed = async () => {
      const name = filters.state.figure;
      if (!name) {
        if (view.open) view.dialog.close();
        return;
      }
      const f = await figureNamed(name);
      if (f !== null) {
        view.show(f);
        return;
      }
      filters.state.figure = "";
      sayMissing([...filters.unknown, `figure ${name}`]);
    };
    /** Say what an address asks for in vain; nothing takes the note away. */
    const sayMissing = (unknown) => {
      byId("missing").hidden = unknown.length === 0;
      const what = unknown.length > 1 ? `${unknown.slice(0, -1).join(", ")} and ${unknown.at(-1)}` : unknown[0];
      byId("missing").firstElementChild.textContent = unknown.length === 0 ? "" :
        `The address asks for what this release does not have: ${what}. An article may have left it, or its figures were ` +
        "found anew; the address may be of another release.";
    };
    byId("close-missing").addEventListener("click", () => { sayMissing([]); byId("figures").focus(); });
    byId("figures").addEventListener("click", (event) => {
      const card = event.target.closest(".card");
      if (!card || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
      event.preventDefault();
      opened = card;
      view.show(Number(card.dataset.figure));
    });

    const readAddress = async () => {
      const before = filters.address({ figure: "" });
      filters.read(location.hash);
      sayMissing(filters.unknown);
      if (filters.address({ figure: "" }) !== before || !grid.cards) await apply();
      await showNamed();
    };
    window.addEventListener("hashchange", readAddress);

    const exported = new Export(filters);

    // ---- keyboard ------------------------------------------------------------------------------------------------
    const help = byId("help");
    byId("open-help").addEventListener("click", () => help.showModal());
    byId("close-help").addEventListener("click", () => help.close());
    const STEPS = { ArrowRight: 1, ArrowLeft: -1, j: 1, k: -1 };
    const moveInGrid = (key, event) => {
      const rows = { ArrowDown: grid.columns(), ArrowUp: -grid.columns() };
      const by = STEPS[key] ?? (grid.focused() >= 0 ? rows[key] : undefined);
      if (by === undefined || !grid.cards.length) return;
      event.preventDefault();
      const at = grid.focused();
      const next = at < 0 ? 0 : at + by;
      if (next >= 0 && next < grid.cards.length) grid.cards[next].focus();
      else if (Math.abs(by) === 1) toPage(filters.state.page + by, by < 0 ? "last" : "first");
    };
    const typing = (target) => target.matches("input:not([type=checkbox]), select, textarea");
    document.addEventListener("keydown", (event) => {
      if (event.altKey || event.ctrlKey || event.metaKey || typing(event.target)) return;
      if (event.key === "?") {
        event.preventDefault();
        if (!help.open) help.showModal();
      } else if (view.open) {
        if (help.open || reports.dialog.open || exported.dialog.open) return;
        if (event.key in STEPS) view.step(STEPS[event.key]);
        else if (event.key === "m") view.regions.turn(!view.regions.on);
      } else if (help.open || reports.dialog.open || exported.dialog.open) {
        return;
      } else if (event.key === "/") {
        event.preventDefault();
        byId("q").focus();
        byId("q").select();
      } else {
        moveInGrid(event.key, event);
      }
    });
    byId("q").addEventListener("keydown", (event) => { if (event.key === "Escape") event.target.blur(); });

    byId("all-figures").hidden = false;
    Object.assign(window.PmoGallery, { filters, grid, view, reports, exported });
    return readAddress();
  };

  data.catalogue.then(start).then(() => { document.documentElement.dataset.ready = "true"; });
})();
