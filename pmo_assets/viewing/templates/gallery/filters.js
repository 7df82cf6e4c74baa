/* What is chosen, its place in the address, and which figures and panels it leaves. */
(() => {
  "use strict";
  const { data, ALL_PANELS } = window.PmoGallery;
  const NO_CONFIDENCE = 255;
  const SINGLE = ["journal", "article", "q", "in", "sort"];
  const UNKNOWN_LICENCE = "licence unknown";
  const RANGES = ["year", "confidence", "caption"];
  const SORTS = ["unsure", "newest"];

  /** Facets with a number for each option: name in the address, and which list of the catalogue it chooses from. */
  const FACETS = [
    { name: "type", list: "types" },
    { name: "mark", list: "marks" },
    { name: "licence", list: "licenses" },
    { name: "assembly", list: "assemblies" },
    { name: "split", list: "splits" },
    { name: "picture", list: "pictures" },
  ];

  const TITLES = { type: "image type", mark: "mark", licence: "licence", assembly: "assembly", split: "split",
    picture: "picture" };

  const emptyState = (further) => ({
    type: new Set(), mark: new Set(), licence: new Set(), assembly: new Set(), split: new Set(), picture: new Set(),
    ...Object.fromEntries(further.map(({ name }) => [name, new Set()])),
    journal: "", article: "", q: "", in: "", sort: "", page: 1, figure: "",
    year: [null, null], confidence: [null, null], caption: [null, null],
  });

  class Filters {
    constructor(catalogue, search) {
      this.catalogue = catalogue;
      this.search = search;
      this.names = {
        types: catalogue.types.map((type) => type.name), marks: catalogue.marks, licenses: catalogue.licenses,
        assemblies: catalogue.assemblies, splits: catalogue.splits.map((name) => name || "no split"),
        pictures: catalogue.pictures,
      };
      // Filters of columns that declare one: each has its options, sets of them, and the number of a set per panel.
      this.further = (catalogue.filters || []).map(({ name, title, values, sets, names }, place) => {
        this.names[name] = values;
        const members = data.unpacked(sets.members);
        let end = 0;
        const unpacked = Array.from(data.unpacked(sets.sizes), (size) => members.subarray(end, end += size));
        return { name, title, list: name, column: `filter${place}`, sets: unpacked, words: names,
          many: unpacked.some((set) => set.length > 1) };
      });
      this.facets = [...FACETS, ...this.further];
      this.articles = catalogue.articles ? catalogue.articles.split(" ") : [];
      const { article, figure, panel } = catalogue.columns;
      const unpack = (columns) =>
        Object.fromEntries(Object.entries(columns).map(([name, text]) => [name, data.unpacked(text)]));
      this.article = unpack(article);
      this.figure = unpack(figure);
      this.panel = unpack(panel);
      const figures = catalogue.counts.figures;
      this.firstPanel = new Uint32Array(figures + 1);
      for (let f = 0; f < figures; f += 1) this.firstPanel[f + 1] = this.firstPanel[f] + this.figure.panels[f];
      for (const facet of this.further) facet.panels = this.countsOf(facet, this.setCounts(facet));
      this.journals = catalogue.journals.map((name) => search.words(name).join(" "));
      this.state = emptyState(this.further);
      this.found = null; // result of the search
      this.hits = new Uint8Array(catalogue.counts.panels);
      this.order = new Uint32Array(figures);
      this.shown = 0;
      this.unknown = []; // what the address asks for and this release does not have, in words
    }

    /** How many panels have each set of a filter's options … */
    setCounts({ sets, column }) {
      const counts = new Uint32Array(sets.length);
      for (const number of this.panel[column]) counts[number] += 1;
      return counts;
    }

    /** … and how many each option, of counts by set. */
    countsOf({ sets, list }, bySet) {
      const counts = new Uint32Array(this.names[list].length);
      sets.forEach((set, number) => { for (const value of set) counts[value] += bySet[number]; });
      return counts;
    }

    /** The options that a panel has of a filter. */
    optionsOf({ sets, column }, p) {
      return sets[this.panel[column][p]];
    }

    // ---- the address -------------------------------------------------------------------------------------------
    numbersOf(facet, values) {
      const names = this.names[facet.list];
      const numberOf = (name) => names.findIndex((other) => other.toLowerCase() === name.trim().toLowerCase());
      // A list with commas is taken as well, but a name may have commas itself.
      const wanted = values.flatMap((value) => (numberOf(value) < 0 ? value.split(",") : [value]))
        .filter((value) => value.trim());
      for (const value of wanted) {
        if (numberOf(value) < 0) this.unknown.push(`${facet.title || TITLES[facet.name]} “${value.trim()}”`);
      }
      return new Set(wanted.map(numberOf).filter((number) => number >= 0));
    }

    /** Set the state from an address (#type=OCT&mark=marked). */
    read(hash) {
      const query = new URLSearchParams(hash.replace(/^#/, ""));
      const state = emptyState(this.further);
      this.unknown = [];
      for (const facet of this.facets) state[facet.name] = this.numbersOf(facet, query.getAll(facet.name));
      for (const name of SINGLE) state[name] = (query.get(name) || "").trim();
      state.q = query.get("q") || "";
      if (!SORTS.includes(state.sort)) state.sort = "";
      if (state.in !== "mentions" || !this.search.hasSentences) state.in = "";
      state.article = state.article.replace(/^(PMC|article )/i, "");
      if (state.article && !this.articles.includes(state.article)) {
        this.unknown.push(`article ${this.articleName(state.article)}`);
        state.article = "";
      }
      for (const name of RANGES) {
        const [low, high] = (query.get(name) || "").split("-", 2);
        const value = (text) => (text && Number.isFinite(Number(text)) ? Number(text) : null);
        state[name] = [value(low), value((query.get(name) || "").includes("-") ? high : low)];
      }
      state.page = Math.max(1, Number.parseInt(query.get("page"), 10) || 1);
      state.figure = query.get("figure") || "";
      this.state = state;
    }

    /** The address of the state, without "#". */
    address(changes) {
      const state = { ...this.state, ...changes };
      const query = new URLSearchParams();
      for (const facet of this.facets) {
        for (const number of state[facet.name]) query.append(facet.name, this.names[facet.list][number]);
      }
      for (const name of SINGLE) {
        const value = name === "article" && state.article ? this.articleName(state.article) : state[name];
        if (value.trim() && (name !== "in" || state.q.trim())) query.set(name, value.trim());
      }
      for (const name of RANGES) {
        const [low, high] = state[name];
        if (low !== null || high !== null) query.set(name, `${low ?? ""}-${high ?? ""}`);
      }
      if (state.page > 1) query.set("page", state.page);
      if (state.figure) query.set("figure", state.figure);
      return query.toString().replaceAll("%2F", "/");
    }

    articleName(number) {
      return number.length < 10 ? "PMC" + number : number;
    }

    /** How many filters are set, the words that are looked for not counted. */
    active() {
      const { state } = this;
      return this.facets.reduce((sum, facet) => sum + state[facet.name].size, 0) +
        ["journal", "article"].filter((name) => state[name]).length +
        RANGES.filter((name) => state[name].some((value) => value !== null)).length;
    }

    clear() {
      this.state = { ...emptyState(this.further), sort: this.state.sort, figure: this.state.figure };
    }

    // ---- what is left ------------------------------------------------------------------------------------------
    /** Promise of nothing: looks for the words that were typed. */
    async find() {
      const { q, in: within } = this.state;
      const found = await this.search.find(q, within === "mentions");
      if (q === this.state.q && within === this.state.in) this.found = found;
    }

    articlesLeft() {
      const { state, article } = this;
      const left = new Uint8Array(this.articles.length).fill(1);
      if (state.journal) {
        const wanted = this.search.words(state.journal).join(" ");
        const exact = this.journals.indexOf(wanted);
        const journals = this.journals.map((name, i) => (exact >= 0 ? i === exact : name.includes(wanted)));
        for (let i = 0; i < left.length; i += 1) if (!journals[article.journal[i]]) left[i] = 0;
      }
      const [low, high] = state.year;
      if (low !== null || high !== null) {
        for (let i = 0; i < left.length; i += 1) {
          const year = article.year[i];
          if (!year || year < (low ?? 0) || year > (high ?? Infinity)) left[i] = 0;
        }
      }
      if (state.article) left.fill(0).fill(1, this.articles.indexOf(state.article), this.articles.indexOf(state.article) + 1);
      return left;
    }

    range(name) {
      const [low, high] = this.state[name];
      const steps = this.catalogue.confidenceSteps;
      const set = low !== null || high !== null;
      return { set, low: Math.ceil((low ?? 0) * steps - 1e-9), high: Math.floor((high ?? 1) * steps + 1e-9) };
    }

    /** Which sets of images match types and marks: of the same image. */
    kindsLeft() {
      const { type, mark } = this.state;
      return this.catalogue.kinds.map((images) => (!type.size && !mark.size) || images.some(([t, m]) =>
        (!type.size || type.has(t)) && (!mark.size || mark.has(m))));
    }

    /** Go through all panels: `hits` per panel, `order` (the first `shown`: figures left), and counts for each option,
     *  of panels that the other filters leave. */
    evaluate() {
      const { state, figure, panel, firstPanel, found, hits, order } = this;
      const articles = this.articlesLeft();
      const kinds = Uint8Array.from(this.kindsLeft());
      const only = (set, count) => Uint8Array.from({ length: count }, (_, i) => (!set.size || set.has(i) ? 1 : 0));
      const licences = only(state.licence, this.names.licenses.length);
      const assemblies = only(state.assembly, this.names.assemblies.length);
      const splits = only(state.split, this.names.splits.length);
      const pictures = only(state.picture, this.names.pictures.length);
      const further = this.further.map((facet) => ({
        facet, of: panel[facet.column], counts: new Uint32Array(facet.sets.length),
        chosen: Uint8Array.from(facet.sets, (set) =>
          !state[facet.name].size || set.some((value) => state[facet.name].has(value)) ? 1 : 0),
      }));
      const confidence = this.range("confidence"), caption = this.range("caption");
      const within = (range, steps) => !range.set || (steps !== NO_CONFIDENCE && steps >= range.low && steps <= range.high);
      const counts = {
        licence: new Uint32Array(licences.length), assembly: new Uint32Array(assemblies.length),
        split: new Uint32Array(splits.length), picture: new Uint32Array(pictures.length), kind: new Uint32Array(kinds.length),
      };
      const ofPanels = state.type.size || state.mark.size || state.assembly.size || confidence.set ||
        this.further.some(({ name }) => state[name].size);
      const seen = new Uint8Array(articles.length);
      let shown = 0, panels = 0;
      hits.fill(0);
      for (let f = 0; f < figure.article.length; f += 1) {
        const a = figure.article[f];
        const mask = found ? found[f] : ALL_PANELS;
        if (!articles[a] || !mask || !within(caption, figure.confidence[f])) continue;
        const licence = figure.license[f], split = this.article.split[a], picture = figure.picture[f];
        const missed = (licences[licence] ? 0 : 1) + (splits[split] ? 0 : 1) + (pictures[picture] ? 0 : 1);
        if (missed > 1) continue;
        const first = firstPanel[f], end = firstPanel[f + 1];
        let left = first === end && !ofPanels && !missed ? 1 : 0;
        for (let p = first; p < end; p += 1) {
          if (mask !== ALL_PANELS && !(mask >> (p - first) & 1)) continue;
          if (!within(confidence, panel.confidence[p])) continue;
          const kind = panel.kind[p], assembly = panel.assembly[p];
          let misses = missed + (kinds[kind] ? 0 : 1) + (assemblies[assembly] ? 0 : 1);
          for (const { of, chosen } of further) misses += chosen[of[p]] ? 0 : 1;
          if (misses > 1) continue;
          if (!misses || !licences[licence]) counts.licence[licence] += 1;
          if (!misses || !splits[split]) counts.split[split] += 1;
          if (!misses || !pictures[picture]) counts.picture[picture] += 1;
          if (!misses || !assemblies[assembly]) counts.assembly[assembly] += 1;
          if (!misses || !kinds[kind]) counts.kind[kind] += 1;
          for (const { of, chosen, counts: own } of further) if (!misses || !chosen[of[p]]) own[of[p]] += 1;
          if (misses) continue;
          hits[p] = 1;
          left += 1;
          panels += 1;
        }
        if (left) {
          order[shown] = f;
          shown += 1;
          seen[a] = 1;
        }
      }
      this.shown = shown;
      this.sort();
      return {
        panels, figures: shown, articles: seen.reduce((sum, value) => sum + value, 0),
        options: {
          ...counts, ...this.kindCounts(counts.kind),
          ...Object.fromEntries(further.map(({ facet, counts: own }) => [facet.name, this.countsOf(facet, own)])),
        },
      };
    }

    /** Panels by type among images of the chosen marks, and by mark among images of the chosen types. */
    kindCounts(kind) {
      const { type, mark } = this.state;
      const types = new Uint32Array(this.names.types.length), marks = new Uint32Array(this.names.marks.length);
      this.catalogue.kinds.forEach((images, number) => {
        const ofType = new Set(), ofMark = new Set();
        for (const [t, m] of images) {
          if (!mark.size || mark.has(m)) ofType.add(t);
          if (!type.size || type.has(t)) ofMark.add(m);
        }
        for (const t of ofType) types[t] += kind[number];
        for (const m of ofMark) marks[m] += kind[number];
      });
      return { type: types, mark: marks };
    }

    /** As asked for; else figures with a picture come first, each part in the order of the release. */
    sort() {
      const { sort } = this.state;
      const { figure, panel, firstPanel, hits } = this;
      const value = new Float64Array(figure.article.length);
      for (let i = 0; i < this.shown; i += 1) {
        const f = this.order[i];
        if (!sort) {
          value[f] = figure.picture[f];
        } else if (sort === "newest") {
          value[f] = -this.article.year[figure.article[f]];
        } else {
          value[f] = NO_CONFIDENCE;
          for (let p = firstPanel[f]; p < firstPanel[f + 1]; p += 1) {
            if (hits[p]) value[f] = Math.min(value[f], panel.confidence[p]);
          }
        }
      }
      this.order.subarray(0, this.shown).sort((a, b) => value[a] - value[b] || a - b);
    }

    /** Whether anything tells panels of a figure apart. */
    narrows() {
      const { type, mark, assembly, confidence } = this.state;
      const further = this.further.some(({ name }) => this.state[name].size);
      return Boolean(type.size || mark.size || assembly.size || further || confidence.some((v) => v !== null) || this.found);
    }

    panelHits(f) {
      return this.hits.subarray(this.firstPanel[f], this.firstPanel[f + 1]);
    }
  }

  /** Promise of a figure: its entry, its article, its small picture. */
  const figureOf = async (catalogue, f) => {
    const per = catalogue.perFile.figures;
    const page = await data.load("figures", Math.floor(f / per));
    const entry = page.figures[f % per];
    return { index: f, entry, article: page.articles[entry.article], small: page.small[f % per] };
  };

  const pictureOf = async (catalogue, f) => {
    const per = catalogue.perFile.figures;
    return (await data.load("pictures", Math.floor(f / per)))[f % per];
  };

  /** Promise of the ids of a figure and its panels. */
  const idsOf = async (catalogue, f) => {
    const per = catalogue.perFile.ids;
    const file = await data.load("ids", Math.floor(f / per));
    return { cluster: file.clusters[f % per], panels: file.panels[f % per] };
  };

  /** Why picture and text of a figure are withheld. */
  const withheldWhy = (filters, f) => {
    const licence = filters.names.licenses[filters.figure.license[f]];
    return licence === UNKNOWN_LICENCE ? "no licence is stated that lets it be passed on"
      : `${licence} does not let it be passed on`;
  };

  Object.assign(window.PmoGallery, { Filters, FACETS, RANGES, withheldWhy, figureOf, pictureOf, idsOf });
})();
