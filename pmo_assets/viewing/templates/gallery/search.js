/* Words to figures, by indexes in files of which only those are loaded that can hold a word.
 *
 * Terms are words (the last one may be the beginning of a word) and "phrases"; all must occur, but those after NOT or
 * "-" must not; OR stands between alternatives. The result is a number per figure: 0 when it was not found, ALL when it
 * concerns the whole figure, else a bit per panel whose own text holds the words. A phrase of three and more words is
 * found by each of its words with the next. */
(() => {
  "use strict";
  const { data } = window.PmoGallery;
  const ALL = -1;
  const SHORTEST_BEGINNING = 2;
  const KINDS = { words: ["words", "said"], pairs: ["pairs", "saidpairs"] }; // of the figure; of the article's sentences

  class Search {
    constructor(catalogue) {
      this.starts = catalogue.words.starts;
      this.longest = catalogue.words.longest;
      this.letters = new Map(catalogue.words.folded);
      this.figures = catalogue.counts.figures;
      this.panels = data.unpacked(catalogue.columns.figure.panels);
      this.decoded = new Map();
    }

    /** Whether there is anything to look through but captions, titles and ids. */
    get hasSentences() {
      return this.starts.said.length > 0;
    }

    /** As `words` in words.py. */
    words(text) {
      const bare = text.normalize("NFKD").replace(/\p{M}+/gu, "").toLowerCase();
      const folded = Array.from(bare, (letter) => this.letters.get(letter) ?? letter).join("");
      return (folded.match(/[\p{L}\p{N}]+/gu) || []).map((word) => Array.from(word).slice(0, this.longest).join(""));
    }

    /** The number of the last file of a kind that begins at or before a word. */
    fileOf(kind, word) {
      const starts = this.starts[kind];
      let low = 0, high = starts.length - 1;
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (starts[middle] <= word) low = middle;
        else high = middle - 1;
      }
      return low;
    }

    async file(kind, number) {
      const name = `${kind}/${number}`;
      if (!this.decoded.has(name)) {
        const { words, sizes, postings } = await data.load(kind, number);
        const ends = Float64Array.from(data.unpacked(sizes));
        for (let i = 1; i < ends.length; i += 1) ends[i] += ends[i - 1];
        this.decoded.set(name, { words, ends, postings: data.bytes(postings) });
        if (this.decoded.size > 60) this.decoded.delete(this.decoded.keys().next().value);
      }
      return this.decoded.get(name);
    }

    /** Note in `found` where the i-th word of a file occurs. */
    collect(file, i, found) {
      const { ends, postings } = file;
      let at = i ? ends[i - 1] : 0;
      let figure = 0;
      const varint = () => {
        let value = 0, shift = 1, byte;
        do {
          byte = postings[at];
          at += 1;
          value += (byte & 127) * shift;
          shift *= 128;
        } while (byte > 127);
        return value;
      };
      while (at < ends[i]) {
        const step = varint();
        figure += Math.floor(step / 2);
        found[figure] |= step % 2 ? varint() : ALL;
      }
    }

    /** Note in `found` where a word of an index, or one that begins so, occurs. */
    async occurrences(kind, word, beginning, found) {
      const starts = this.starts[kind];
      if (!starts.length) return;
      const end = beginning ? word + "\uffff" : word;
      for (let number = this.fileOf(kind, word); number < starts.length && starts[number] <= end; number += 1) {
        const file = await this.file(kind, number);
        const { words } = file;
        let low = 0, high = words.length;
        while (low < high) {
          const middle = (low + high) >> 1;
          if (words[middle] < word) low = middle + 1;
          else high = middle;
        }
        while (low < words.length && words[low] <= end) {
          this.collect(file, low, found);
          low += 1;
        }
      }
    }

    /** Where a word or a pair of words occurs, in all that is to be looked through. */
    async where(index, word, beginning, everywhere) {
      const found = new Int32Array(this.figures);
      for (const kind of KINDS[index].slice(0, everywhere ? 2 : 1)) await this.occurrences(kind, word, beginning, found);
      return found;
    }

    /** What was typed as alternatives, each a list of terms {words, phrase, not, open}. */
    terms(text) {
      // a panel's id is made of its article's number, its figure's id and its place: the figure is what is looked for
      const typed = text.replace(/[\u201c-\u201f]/gu, '"').replace(/\bp_(\d+)_(\S+)_\d+(?=\s|$)/gu, "$1 $2");
      const parts = [...typed.matchAll(/(-|NOT\s+)?(?:"([^"]*)"?|([^\s"]+))/gu)];
      const alternatives = [[]];
      parts.forEach(([part, not, quoted, bare], i) => {
        if (part === "OR" || part === "|") {
          alternatives.push([]);
          return;
        }
        const words = this.words(quoted ?? bare);
        if (!words.length) return;
        const last = i === parts.length - 1 && quoted === undefined && !not && !/\s$/u.test(text);
        if (quoted !== undefined || not) {
          alternatives.at(-1).push({ words, phrase: true, not: Boolean(not), open: false });
        } else {
          words.forEach((word, place) => alternatives.at(-1).push({
            words: [word], phrase: false, not: false, open: last && place === words.length - 1 && word.length >= SHORTEST_BEGINNING,
          }));
        }
      });
      return alternatives.filter((terms) => terms.length);
    }

    /** Where all of some lists meet; words that no panel has together are in the figure all the same. */
    meet(lists) {
      const result = lists.length ? lists[0] : new Int32Array(this.figures).fill(ALL);
      for (let figure = 0; figure < result.length; figure += 1) {
        let mask = result[figure];
        let everywhere = mask !== 0;
        for (let i = 1; i < lists.length && everywhere; i += 1) {
          everywhere = lists[i][figure] !== 0;
          mask &= lists[i][figure];
        }
        result[figure] = everywhere ? mask || ALL : 0;
      }
      return result;
    }

    async occurrencesOf({ words, phrase, open }, everywhere) {
      if (!phrase || words.length === 1) return this.where("words", words[0], open, everywhere);
      const pairs = words.slice(1).map((word, i) => `${words[i]} ${word}`);
      return this.meet(await Promise.all(pairs.map((pair) => this.where("pairs", pair, false, everywhere))));
    }

    /** Take away what terms after NOT have: panels whose own text holds one, or the whole figure. */
    without(result, unwanted) {
      for (let figure = 0; figure < result.length; figure += 1) {
        for (const list of unwanted) {
          if (!result[figure] || !list[figure]) continue;
          const panels = this.panels[figure];
          const every = panels > 30 ? 0x7fffffff : (1 << panels) - 1; // masks have 31 bits, see words.py
          result[figure] = list[figure] === ALL ? 0 : (result[figure] === ALL ? every : result[figure]) & ~list[figure];
        }
      }
      return result;
    }

    /** Promise of the result for what was typed; null when that holds no word. */
    async find(text, everywhere = false) {
      const alternatives = this.terms(text);
      if (!alternatives.length) return null;
      const found = await Promise.all(alternatives.map(async (terms) => {
        const lists = (not) => Promise.all(terms.filter((term) => term.not === not)
          .map((term) => this.occurrencesOf(term, everywhere)));
        return this.without(this.meet(await lists(false)), await lists(true));
      }));
      const result = found[0];
      for (const other of found.slice(1)) other.forEach((mask, figure) => { result[figure] |= mask; });
      return result;
    }
  }

  Object.assign(window.PmoGallery, { Search, ALL_PANELS: ALL });
})();
