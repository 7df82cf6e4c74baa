/* Elements made of data. Text goes in as text, never as markup: nothing here parses HTML. */
(() => {
  "use strict";
  const SVG = "http://www.w3.org/2000/svg";

  const filled = (element, attributes, children) => {
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value === null || value === undefined || value === false) continue;
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else if (name.startsWith("--")) element.style.setProperty(name, value);
      else if (name === "style") Object.assign(element.style, value);
      else element.setAttribute(name, value === true ? "" : value);
    }
    for (const child of children.flat(Infinity)) {
      if (child !== null && child !== undefined && child !== false) element.append(child);
    }
    return element;
  };

  /** An element: tag, attributes (on…: listeners, --…: custom properties), children (elements and texts). */
  const element = (tag, attributes, ...children) => filled(document.createElement(tag), attributes, children);

  const svg = (tag, attributes, ...children) => filled(document.createElementNS(SVG, tag), attributes, children);

  /** A link out of the gallery; null when there is no address. Addresses are http(s), see `markup.web_url`. */
  const link = (address, attributes, ...children) =>
    /^https?:\/\//i.test(address || "")
      ? element("a", { href: address, target: "_blank", rel: "noopener noreferrer", ...attributes }, ...children)
      : null;

  const number = new Intl.NumberFormat("en");
  const plural = (count, word) => number.format(count) + " " + word + (count === 1 ? "" : "s");
  const count = (shown, total, word) =>
    shown === total ? plural(total, word) : number.format(shown) + " / " + plural(total, word);

  /** Give the reader a file that the page has made. */
  const download = (name, kind, text) => {
    const address = URL.createObjectURL(new Blob([text], { type: kind }));
    const anchor = element("a", { href: address, download: name });
    document.body.append(anchor);
    anchor.click();
    anchor.remove();
    setTimeout(() => URL.revokeObjectURL(address), 60000);
  };

  const byId = (id) => document.getElementById(id);

  /** Say something to people who do not see what changed. */
  const announce = (text) => { byId("announcement").textContent = text; };

  Object.assign(window.PmoGallery, {
    elements: { element, svg, link, number, plural, count, download, byId, announce },
  });
})();
