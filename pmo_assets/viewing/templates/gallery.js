(() => {
  "use strict";
  const root = document.documentElement;
  root.classList.add("js");
  const byId = (id) => document.getElementById(id);
  const all = (selector, from = document) => Array.from(from.querySelectorAll(selector));
  const options = JSON.parse(byId("options").textContent);
  const bar = document.querySelector(".bar");
  const number = new Intl.NumberFormat("en");

  // ---- what there is -------------------------------------------------------------------------------------------
  const text = (element) => (element ? element.textContent.toLowerCase() : "");
  const articles = all("main > .article").map((section) => {
    const heading = text(section.querySelector("header"));
    const figures = all(".card", section).map((card) => {
      const panels = all(".panels > li", card).map((item) => ({
        item,
        index: item.dataset.panels,
        assembly: item.dataset.assembly,
        images: item.dataset.images.split(" ").filter(Boolean).map((token) => token.split(":")),
        words: text(item.querySelector(".sub")) + " " + text(item.querySelector(".name")),
      }));
      const title = text(card.querySelector("h3")) + " " + text(card.querySelector(".under span"));
      return {
        card, panels, licence: card.dataset.licence,
        words: heading + " " + title + " " + text(card.querySelector(".attribution")),
        caption: text(card.querySelector(".cap")),
      };
    });
    return { section, figures, number: section.dataset.article };
  });

  // ---- filters and the URL -------------------------------------------------------------------------------------
  const types = all("input[name=type]");
  const marks = all("input[name=mark]");
  const selects = { licence: options.licenses, assembly: options.assemblies };
  const numberOf = (names, name) => {
    const index = names.findIndex((other) => other.toLowerCase() === name.trim().toLowerCase());
    return index < 0 ? null : String(index);
  };

  const readHash = () => {
    const hash = location.hash.slice(1);
    if (!hash.includes("=")) return;
    const query = new URLSearchParams(hash);
    const wanted = query.getAll("type")
      .flatMap((name) => (numberOf(options.types, name) === null ? name.split(",") : [name]))
      .map((name) => numberOf(options.types, name));
    for (const input of types) input.checked = wanted.includes(input.value);
    const mark = numberOf(options.statuses, query.get("mark") || "") || "";
    for (const input of marks) input.checked = input.value === mark;
    for (const [id, names] of Object.entries(selects)) byId(id).value = numberOf(names, query.get(id) || "") || "";
    const article = (query.get("article") || "").replace(/^PMC/i, "");
    byId("article").value = articles.some((entry) => entry.number === article) ? article : "";
    byId("q").value = query.get("q") || "";
  };

  const state = () => ({
    types: types.filter((input) => input.checked).map((input) => input.value),
    mark: (marks.find((input) => input.checked) || { value: "" }).value,
    licence: byId("licence").value,
    assembly: byId("assembly").value,
    article: byId("article").value,
    words: byId("q").value.toLowerCase().split(/\s+/).filter(Boolean),
  });

  const writeHash = (now) => {
    const query = new URLSearchParams();
    for (const type of now.types) query.append("type", options.types[type]);
    if (now.mark) query.set("mark", options.statuses[now.mark]);
    for (const [id, names] of Object.entries(selects)) if (now[id]) query.set(id, names[now[id]]);
    if (now.article) query.set("article", "PMC" + now.article);
    if (byId("q").value.trim()) query.set("q", byId("q").value.trim());
    const hash = query.toString();
    if (hash === "" && !location.hash.includes("=")) return;
    // A copied address must lead back here, but typing must not fill the history.
    try { history.replaceState(null, "", "#" + hash); } catch { /* not allowed here: filters still work */ }
  };

  const matches = (now, panel, type, mark) => {
    if (type.length === 0 && mark === "") return true;
    return panel.images.some(([t, m]) => (type.length === 0 || type.includes(t)) && (mark === "" || mark === m));
  };

  const apply = () => {
    const now = state();
    let panelCount = 0, panelTotal = 0, figureCount = 0, figureTotal = 0, articleCount = 0;
    const typeCounts = options.types.map(() => 0);
    const markCounts = options.statuses.map(() => 0);
    const narrow = now.types.length > 0 || now.mark !== "" || now.assembly !== "" || now.words.length > 0;
    for (const article of articles) {
      let figuresShown = 0;
      for (const figure of article.figures) {
        figureTotal += 1;
        panelTotal += figure.panels.length;
        const eligible = (!now.licence || figure.licence === now.licence) && (!now.article || article.number === now.article);
        // Words found in title and ids count for all panels; the rest must be in the panel's own text, or, when no
        // panel has it, anywhere in the caption.
        const rest = now.words.filter((word) => !figure.words.includes(word));
        const found = figure.panels.map((panel) => rest.every((word) => panel.words.includes(word)));
        const anywhere = !found.includes(true) && rest.every((word) => figure.caption.includes(word));
        let shown = 0;
        figure.panels.forEach((panel, i) => {
          const base = eligible && (found[i] || anywhere) && (!now.assembly || panel.assembly === now.assembly);
          if (base) {
            options.types.forEach((_, t) => { if (matches(now, panel, [String(t)], now.mark)) typeCounts[t] += 1; });
            options.statuses.forEach((_, m) => { if (matches(now, panel, now.types, String(m))) markCounts[m] += 1; });
          }
          const hit = base && matches(now, panel, now.types, now.mark);
          shown += hit;
          panel.hit = hit;
        });
        const noPanels = figure.panels.length === 0 && eligible && now.types.length === 0 && !now.mark && !now.assembly &&
          rest.every((word) => figure.caption.includes(word));
        const visible = shown > 0 || noPanels;
        figure.card.hidden = !visible;
        if (visible) {
          figuresShown += 1;
          panelCount += shown;
          const missed = new Set(figure.panels.filter((panel) => narrow && !panel.hit).map((panel) => panel.index));
          if (missed.size || figure.missed) {
            for (const element of all(".panels > li, .stage [data-panels]", figure.card)) {
              element.classList.toggle("miss", missed.has(element.dataset.panels));
            }
          }
          figure.missed = missed.size > 0;
        }
      }
      article.section.hidden = figuresShown === 0;
      articleCount += figuresShown > 0;
      figureCount += figuresShown;
    }
    const plural = (count, word) => number.format(count) + " " + word + (count === 1 ? "" : "s");
    const of = (count, total, word) =>
      count === total ? plural(total, word) : number.format(count) + " / " + plural(total, word);
    const strong = document.createElement("strong");
    strong.textContent = of(panelCount, panelTotal, "panel");
    byId("count").replaceChildren(strong, " · " + of(figureCount, figureTotal, "figure") + " · " +
      of(articleCount, articles.length, "article"));
    byId("nothing").hidden = figureCount > 0;
    typeCounts.forEach((count, t) => { document.querySelector(`[data-count="type-${t}"]`).textContent = number.format(count); });
    markCounts.forEach((count, m) => { document.querySelector(`[data-count="mark-${m}"]`).textContent = number.format(count); });
    const active = now.types.length + [now.mark, now.licence, now.assembly, now.article].filter(Boolean).length;
    byId("active-filters").textContent = active ? ` (${active})` : "";
    byId("reset").hidden = active === 0 && now.words.length === 0;
    return now;
  };

  let timer = 0;
  const changed = () => {
    clearTimeout(timer);
    timer = setTimeout(() => writeHash(apply()), 90);
  };
  for (const input of [...types, ...marks]) input.addEventListener("change", changed);
  for (const id of ["licence", "assembly", "article"]) byId(id).addEventListener("change", changed);
  byId("q").addEventListener("input", changed);
  byId("reset").addEventListener("click", () => {
    for (const input of types) input.checked = false;
    for (const input of marks) input.checked = input.value === "";
    for (const id of ["licence", "assembly", "article", "q"]) byId(id).value = "";
    writeHash(apply());
    byId("q").focus();
  });
  window.addEventListener("hashchange", () => { readHash(); apply(); });
  const opener = document.querySelector(".open-filters");
  opener.addEventListener("click", () => {
    opener.setAttribute("aria-expanded", String(bar.classList.toggle("expanded")));
  });

  // Figures follow the reader below the bar, and links to a figure stop there.
  const measure = () => root.style.setProperty("--bar", bar.offsetHeight + "px");
  new ResizeObserver(measure).observe(bar);

  // ---- panel <-> subcaption <-> part of the caption ------------------------------------------------------------
  const highlight = (card, indices) => {
    card.classList.toggle("linking", indices.length > 0);
    for (const element of all("[data-panels]", card)) {
      const mine = element.dataset.panels.split(" ");
      element.classList.toggle("on", indices.length > 0 && mine.some((index) => indices.includes(index)));
    }
  };
  const pinned = (card) => all(".name[aria-pressed=true]", card).map((button) => button.closest("li").dataset.panels);
  const follow = (event) => {
    const card = event.target.closest && event.target.closest(".card");
    if (!card) return;
    const part = event.target.closest("[data-panels]");
    const indices = part ? part.dataset.panels.split(" ") : pinned(card);
    highlight(card, indices);
  };
  const leave = (event) => {
    const card = event.target.closest && event.target.closest(".card");
    if (card && !(event.relatedTarget && card.contains(event.relatedTarget))) highlight(card, pinned(card));
  };
  document.addEventListener("pointerover", follow);
  document.addEventListener("focusin", follow);
  document.addEventListener("pointerout", leave);
  document.addEventListener("focusout", leave);

  // ---- enlarged view -------------------------------------------------------------------------------------------
  const viewer = byId("viewer");
  const body = viewer.querySelector(".dialog-body");
  let current = null;
  const visibleCards = () => all("main .card").filter((card) => !card.hidden);
  const show = (card) => {
    current = card;
    const copy = card.cloneNode(true);
    copy.removeAttribute("id");
    copy.querySelectorAll("img").forEach((image) => { image.loading = "eager"; });
    body.replaceChildren(copy);
    body.scrollTop = 0;
    const heading = card.closest(".article").querySelector("h2").textContent;
    byId("viewer-title").textContent = card.querySelector("h3").textContent + " · " + heading;
    const cards = visibleCards(), place = cards.indexOf(card);
    byId("previous").disabled = place <= 0;
    byId("next").disabled = place < 0 || place === cards.length - 1;
    if (!viewer.open) viewer.showModal();
  };
  const step = (by) => {
    const cards = visibleCards();
    const card = cards[cards.indexOf(current) + by];
    if (card) show(card);
  };
  document.addEventListener("click", (event) => {
    const name = event.target.closest("button.name");
    if (name) {
      const pressed = name.getAttribute("aria-pressed") !== "true";
      const card = name.closest(".card");
      for (const other of all(".name", card)) other.setAttribute("aria-pressed", "false");
      name.setAttribute("aria-pressed", String(pressed));
      highlight(card, pressed ? pinned(card) : []);
      return;
    }
    const card = event.target.closest("main .card");
    if (card && event.target.closest(".stage, .zoom")) show(card);
    else if (event.target === viewer) viewer.close();
  });
  byId("previous").addEventListener("click", () => step(-1));
  byId("next").addEventListener("click", () => step(1));
  byId("close").addEventListener("click", () => viewer.close());
  viewer.addEventListener("close", () => {
    body.replaceChildren();
    if (current) {
      current.scrollIntoView({ block: "nearest" });
      current.querySelector(".zoom").focus({ preventScroll: true });
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (viewer.open) {
      if (event.key === "ArrowLeft") step(-1);
      if (event.key === "ArrowRight") step(1);
    } else if (event.key === "/" && !/^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName)) {
      event.preventDefault();
      byId("q").focus();
    }
  });

  readHash();
  apply();
})();
