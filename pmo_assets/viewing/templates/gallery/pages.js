/* Where on the pages of the PDF a figure and its caption lie, drawn to scale. */
(() => {
  "use strict";
  const { element, svg, link } = window.PmoGallery.elements;
  const USUAL = [612, 792]; // US letter, for pages whose size is not known

  // Pages of rows count from 0, those of people from 1: nowhere else does the one become the other.
  const pageNumber = (page) => page + 1;

  const rectangle = ([, left, top, right, bottom], attributes) =>
    svg("rect", { x: left, y: top, width: Math.max(1, right - left), height: Math.max(1, bottom - top), ...attributes });

  const pageAddress = (article, page) => (article.pdf ? `${article.pdf.split("#")[0]}#page=${pageNumber(page)}` : null);

  const pageOf = (page, entry, article, picture) => {
    const figures = (entry.onPages || []).filter((box) => box[0] === page);
    const captions = (entry.captionOnPages || []).filter((box) => box[0] === page);
    const known = (entry.pages || []).find((size) => size[0] === page);
    const boxes = [...figures, ...captions];
    const [width, height] = known ? known.slice(1) : [
      Math.max(USUAL[0], ...boxes.map((box) => box[3])), Math.max(USUAL[1], ...boxes.map((box) => box[4])),
    ];
    // The picture of a figure in one part can be shown in its place; of several parts only the boxes.
    const whole = picture && (entry.onPages || []).length === 1;
    const name = `Page ${pageNumber(page)}`;
    const what = [figures.length && "figure", captions.length && "caption"].filter(Boolean).join(" and ");
    const sheet = svg("svg", {
      viewBox: `-2 -2 ${width + 4} ${height + 4}`, class: known ? "sheet" : "sheet unknown", role: "img",
      "aria-label": `${name} with the place of ${what}`,
    },
    svg("rect", { class: "paper", x: 0, y: 0, width, height }),
    captions.map((box) => rectangle(box, { class: "words" })),
    figures.map((box) => [
      whole && svg("image", {
        href: "data:image/webp;base64," + picture, x: box[1], y: box[2], width: Math.max(1, box[3] - box[1]),
        height: Math.max(1, box[4] - box[2]), preserveAspectRatio: "none",
      }),
      rectangle(box, { class: "place" }),
    ]));
    const address = pageAddress(article, page);
    const where = address ? `Open the PDF at page ${pageNumber(page)}` : "Open the article";
    return element("li", {}, link(address || article.url, { "aria-label": where }, sheet) || sheet,
      element("span", {}, name, known ? null : element("small", {}, "size of the page not known")));
  };

  /** The part of the figure view about pages; null when no place is known. */
  const pagesOf = ({ entry, article }, picture) => {
    const numbers = [...(entry.onPages || []), ...(entry.captionOnPages || [])].map((box) => box[0]);
    const pages = [...new Set(numbers)].sort((a, b) => a - b);
    if (!pages.length) return null;
    return element("section", { class: "context", "aria-labelledby": "context-title" },
      element("h3", { id: "context-title" }, "On the page"),
      element("ul", { class: "sheets" }, pages.map((page) => pageOf(page, entry, article, picture))),
      element("p", { class: "key-line" }, element("span", { class: "key place" }), "figure",
        element("span", { class: "key words" }), "caption",
        article.pdf ? null : element("span", {}, article.url ? "The page leads to the article: no address of its PDF is known." : "No address is known.")));
  };

  Object.assign(window.PmoGallery, { pagesOf, pageAddress, pageNumber });
})();
