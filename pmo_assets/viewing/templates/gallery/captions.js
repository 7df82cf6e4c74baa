/* A caption with its parts coloured by the panel that they belong to; as `viewing.captions.caption_html`. */
(() => {
  "use strict";
  const { element } = window.PmoGallery.elements;

  const captionOf = (entry, { colours, shared, maxNames, maxTag, maxStripes }) => {
    const panels = entry.panels || [];
    const count = panels.length;
    const colour = (owner) => colours[owner % colours.length];
    const name = (owner) => panels[owner].name || `#${owner + 1}`;
    const stripes = (owners) => {
      const some = owners.slice(0, maxStripes);
      const stops = some.map((owner, i) =>
        `${colour(owner)[0]} ${(100 * i) / some.length}% ${(100 * (i + 1)) / some.length}%`);
      return `linear-gradient(90deg,${stops.join(",")})`;
    };
    const tag = (text, [fill, ink]) => element("b", { class: "who", "--c": fill, "--ink": ink }, text);
    const tags = (owners) => {
      if (owners.length === count) return [];
      if (owners.length > maxNames) return [tag(`${owners.length} panels`, shared)];
      return owners.map((owner) => {
        const letters = Array.from(name(owner));
        return tag(letters.length <= maxTag ? name(owner) : letters.slice(0, maxTag - 1).join("") + "…", colour(owner));
      });
    };
    const kinds = new Set();
    const piece = (part) => {
      if (typeof part === "string") return count > 1 && part.trim() ? element("span", { class: "none" }, part) : part;
      const [text, owners] = part;
      if (count < 2) return element("span", { "data-panels": owners.join(" ") }, text);
      const all = owners.length === count;
      const kind = all ? "all" : owners.length > 1 ? "several" : "one";
      kinds.add(kind);
      return element("span", {
        class: "seg " + kind,
        "data-panels": owners.join(" "),
        title: all ? "all panels" : (owners.length > 1 ? "panels " : "panel ") + owners.map(name).join(", "),
        "--c": kind === "one" ? colour(owners[0])[0] : shared[0],
        "--stripes": kind === "several" ? stripes(owners) : null,
      }, tags(owners), text);
    };
    const caption = element("p", { class: "cap", dir: "auto" }, (entry.caption || []).map(piece));
    const words = { one: "one panel", several: "several panels", all: "all panels" };
    const legend = Object.keys(words).filter((kind) => kinds.has(kind)).map((kind) =>
      element("li", {}, element("span", { class: "cap" }, element("span", {
        class: "seg sw " + kind, "--c": kind === "one" ? colour(0)[0] : shared[0], "--stripes": stripes([0, 1]),
      })), words[kind]));
    return [caption, legend.length > 0 && element("ul", { class: "cap-legend", "aria-label": "Legend" }, legend)];
  };

  Object.assign(window.PmoGallery, { captionOf });
})();
