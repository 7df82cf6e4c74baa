/* What the article says of panels: words in the style of the thing that they name, sentences with their place, summary. */
(() => {
  "use strict";
  const { data, phrasesIn, phraseOf } = window.PmoGallery;
  const { element, link, plural } = window.PmoGallery.elements;
  const NEGATED = 1, UNCERTAIN = 2;
  const PMC = /^https:\/\/pmc\.ncbi\.nlm\.nih\.gov\/articles\/PMC\d+\//;
  const EDGE = 5; // words of a sentence's beginning and end that find it in the article
  const KINDS = { "names panel": "names the panel", "names figure": "names the figure", follows: "carries on" };

  /** Promise of what is told of a figure's panels; null when nothing is. */
  const contextOf = async (catalogue, f, entry) => {
    if (!entry.told) return null;
    const per = catalogue.perFile.figures;
    return (await data.load("context", Math.floor(f / per)))[f % per];
  };

  /** The address of the place in the article where a sentence stands; null when the article is not at PMC.
   *
   * The browser looks for the first and the last words of the sentence (URL fragment text directives): between them the
   * article may have notes and numbers of references, which the sentence has not. */
  const placeOf = (article, sentence) => {
    const address = PMC.exec(article.url || "");
    if (!address) return null;
    const words = sentence.trim().split(/\s+/);
    const ends = words.length > 2 * EDGE ? [words.slice(0, EDGE), words.slice(-EDGE)] : [words];
    const parts = ends.map((some) => some.join(" ").replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, ""));
    if (!parts.every(Boolean)) return address[0];
    // A hyphen has a meaning of its own in a directive, as commas have, which are encoded with all else.
    return `${address[0]}#:~:text=${parts.map((part) => encodeURIComponent(part).replaceAll("-", "%2D")).join(",")}`;
  };

  const marked = (catalogue, group, bits, title, text) => {
    const [, colour, line] = catalogue.context.groups[group];
    const status = (bits & NEGATED ? " negated" : "") + (bits & UNCERTAIN ? " uncertain" : "");
    return element("mark", { class: `entity ${line}${status}`, "--c": colour, title }, text);
  };

  /** A stretch of a text with its entities. */
  const withEntities = (catalogue, text, numbers, terms, from, to) => {
    const parts = [];
    let at = from;
    for (let i = 0; i < numbers.length; i += 5) {
      const [start, end, group, term, bits] = numbers.slice(i, i + 5);
      if (end <= from || start >= to) continue;
      const said = [bits & NEGATED && "negated", bits & UNCERTAIN && "uncertain"].filter(Boolean);
      const title = [`${catalogue.context.groups[group][0]}: ${terms[term]}`, ...said].join(", ");
      const [first, last] = [Math.max(start, from), Math.min(end, to)]; // a phrase may begin within
      parts.push(text.slice(at, first), marked(catalogue, group, bits, title, text.slice(first, last)));
      at = last;
    }
    return [...parts, text.slice(at, to)];
  };

  /** A text with its entities, as children of an element, and with the phrases that name marks, which hold entities.
   *
   * `numbers` are five for each entity: start, end, group, term, bits. */
  const markedText = (catalogue, text, numbers, terms, phrases = []) => {
    const parts = [];
    let at = 0;
    for (const phrase of phrases) {
      const [start, end] = phrase.range;
      parts.push(...withEntities(catalogue, text, numbers, terms, at, start),
        phraseOf(phrase, withEntities(catalogue, text, numbers, terms, start, end)));
      at = end;
    }
    return [...parts, ...withEntities(catalogue, text, numbers, terms, at, text.length)];
  };

  /** The groups of entities that a figure's words name, in the order of the palette; null without any. */
  const entityLegend = (catalogue, context) => {
    const marks = [...context.panels.filter(Boolean).map((panel) => panel.marks), ...context.sentences.map((all) => all[3])];
    const groups = new Set();
    let bits = 0;
    for (const numbers of marks) {
      for (let i = 0; i < numbers.length; i += 5) {
        groups.add(numbers[i + 2]);
        bits |= numbers[i + 4];
      }
    }
    if (!groups.size) return null;
    const said = (bit, word) => bits & bit ? element("li", {}, marked(catalogue, Math.min(...groups), bit, null, word)) : null;
    return element("ul", { class: "entity-legend", "aria-label": "Kinds of things that words name" },
      catalogue.context.groups.map(([name], group) =>
        groups.has(group) ? element("li", {}, marked(catalogue, group, 0, null, name)) : null),
      said(NEGATED, "negated"), said(UNCERTAIN, "uncertain"));
  };

  const sentenceItem = (catalogue, article, context, number, kind, phrases) => {
    const [text, section, title, marks] = context.sentences[number];
    const names = catalogue.context.sections;
    const other = names[section] === "other" && title; // the title says more
    const same = title.toLowerCase() === names[section];
    return element("li", {},
      element("p", { class: "sub", dir: "auto" }, markedText(catalogue, text, marks, context.terms, phrases)),
      element("p", { class: "from" },
        !other && element("span", { class: "section" }, names[section]),
        title && !same ? element("span", { dir: "auto" }, title) : null,
        element("span", {}, KINDS[catalogue.context.kinds[kind]]),
        link(placeOf(article, text), { "aria-label": "This sentence in the article at PMC" }, "in the article ↗")));
  };

  /** What the running text says of a panel: its summary, and its sentences in a part that opens; null without any. */
  const toldOf = (catalogue, article, context, i, pointed) => {
    const told = context && context.panels[i];
    if (!told || !(told.said.length || told.summary.length || told.generated)) return null;
    const list = element("ol", { class: "sentences" });
    const fill = () => {
      if (list.firstChild) return;
      for (let at = 0; at < told.said.length; at += 2) {
        const phrases = phrasesIn(pointed, at / 2);
        list.append(sentenceItem(catalogue, article, context, told.said[at], told.said[at + 1], phrases));
      }
    };
    const details = element("details", { class: "told", ontoggle: fill },
      element("summary", {}, plural(told.said.length / 2, "sentence") + " in the text"), list);
    if (!told.summary.length && context.panels.length === 1) { // else the summary says most of it
      details.open = true;
      fill();
    }
    const summary = told.summary.flatMap((number) => {
      const [text, , , marks] = context.sentences[number];
      const mention = told.said.findIndex((item, at) => at % 2 === 0 && item === number);
      const phrases = mention < 0 ? [] : phrasesIn(pointed, mention / 2);
      return [" ", ...markedText(catalogue, text, marks, context.terms, phrases)];
    });
    return element("div", { class: "context-of" },
      told.generated && element("p", { class: "sub", dir: "auto" }, element("b", {}, "Summary by a model "), told.generated),
      summary.length > 0 && element("p", { class: "sub", dir: "auto" }, element("b", {}, "From the text"), summary),
      told.said.length > 0 && details);
  };

  Object.assign(window.PmoGallery, { contextOf, markedText, entityLegend, toldOf });
})();
