/* Words to figures, by an index in files of which only those are loaded that can hold a word.
 *
 * All words must occur; the last one may be the beginning of a word. The result is a number per figure: 0 when it was
 * not found, ALL when it concerns the whole figure, else a bit per panel whose own text holds the words. */
(() => {
  "use strict";
  const { data } = window.PmoGallery;
  const ALL = -1;
  const SHORTEST_BEGINNING = 2;

  class Search {
    constructor(catalogue) {
      this.starts = catalogue.words.starts;
      this.longest = catalogue.words.longest;
      this.letters = new Map(catalogue.words.folded);
      this.figures = catalogue.counts.figures;
      this.decoded = new Map();
    }

    /** As `words` in words.py. */
    words(text) {
      const bare = text.normalize("NFKD").replace(/\p{M}+/gu, "").toLowerCase();
      const folded = Array.from(bare, (letter) => this.letters.get(letter) ?? letter).join("");
      return (folded.match(/[\p{L}\p{N}]+/gu) || []).map((word) => Array.from(word).slice(0, this.longest).join(""));
    }

    /** The number of the last file that begins at or before a word. */
    fileOf(word) {
      let low = 0, high = this.starts.length - 1;
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (this.starts[middle] <= word) low = middle;
        else high = middle - 1;
      }
      return low;
    }

    async file(number) {
      if (!this.decoded.has(number)) {
        const { words, sizes, postings } = await data.load("words", number);
        const ends = Float64Array.from(data.unpacked(sizes));
        for (let i = 1; i < ends.length; i += 1) ends[i] += ends[i - 1];
        this.decoded.set(number, { words, ends, postings: data.bytes(postings) });
        if (this.decoded.size > 60) this.decoded.delete(this.decoded.keys().next().value);
      }
      return this.decoded.get(number);
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

    /** Where a word, or one that begins so, occurs. */
    async occurrences(word, beginning) {
      const found = new Int32Array(this.figures);
      if (!this.starts.length) return found;
      const end = beginning ? word + "\uffff" : word;
      for (let number = this.fileOf(word); number < this.starts.length && this.starts[number] <= end; number += 1) {
        const file = await this.file(number);
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
      return found;
    }

    /** Promise of the result for what was typed; null when that holds no word. */
    async find(text) {
      // a panel's id is made of its article's number, its figure's id and its place: the figure is what is looked for
      const words = this.words(text.replace(/\bp_(\d+)_(\S+)_\d+(?=\s|$)/gu, "$1 $2"));
      if (!words.length) return null;
      const last = words.length - 1;
      const open = !/\s$/u.test(text);
      const lists = await Promise.all(words.map((word, i) =>
        this.occurrences(word, i === last && open && word.length >= SHORTEST_BEGINNING)));
      const result = lists[0];
      for (let figure = 0; figure < result.length; figure += 1) {
        let mask = result[figure];
        let everywhere = mask !== 0;
        for (let i = 1; i < lists.length && everywhere; i += 1) {
          everywhere = lists[i][figure] !== 0;
          mask &= lists[i][figure];
        }
        // Words that no panel has together are in the figure all the same.
        result[figure] = everywhere ? mask || ALL : 0;
      }
      return result;
    }
  }

  Object.assign(window.PmoGallery, { Search, ALL_PANELS: ALL });
})();
