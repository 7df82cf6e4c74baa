/* The panels that are left as a list to take along: Parquet, CSV, or ids alone; and the address that leads there again. */
(() => {
  "use strict";
  const { idsOf, parquetFile, data } = window.PmoGallery;
  const { download, byId, announce, plural } = window.PmoGallery.elements;
  const COLUMNS = [["panel_id", "text"], ["article_id", "whole"], ["image_cluster_id", "text"], ["image_types", "text"],
    ["mark_statuses", "text"], ["assembly", "text"], ["confidence", "fraction"], ["license", "text"], ["split", "text"],
    ["year", "whole"]];
  const MEDIA = { csv: "text/csv", txt: "text/plain", parquet: "application/vnd.apache.parquet" };

  const cell = (value) => (/[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);

  /** Promise of a row for each panel that is left, in the order of the release. */
  const rowsOf = async (filters) => {
    const { catalogue, figure, panel, firstPanel, hits, article, names } = filters;
    const rows = [];
    for (const f of Array.from(filters.order.subarray(0, filters.shown)).sort((a, b) => a - b)) {
      const ids = await idsOf(catalogue, f);
      const a = figure.article[f];
      for (let p = firstPanel[f]; p < firstPanel[f + 1]; p += 1) {
        if (!hits[p]) continue;
        const images = catalogue.kinds[panel.kind[p]];
        const sure = panel.confidence[p] <= catalogue.confidenceSteps;
        rows.push([
          ids.panels[p - firstPanel[f]], filters.articles[a], ids.cluster,
          [...new Set(images.map(([t]) => names.types[t]))].join("; "),
          [...new Set(images.map(([, m]) => names.marks[m]))].join("; "),
          names.assemblies[panel.assembly[p]], sure ? panel.confidence[p] / catalogue.confidenceSteps : null,
          names.licenses[figure.license[f]], catalogue.splits[article.split[a]] || null, article.year[a] || null,
        ]);
      }
    }
    return rows;
  };

  const asCsv = (rows) => [COLUMNS.map(([name]) => name), ...rows]
    .map((row) => row.map((value) => cell(String(value ?? ""))).join(",") + "\r\n").join("");

  class Export {
    constructor(filters) {
      this.filters = filters;
      this.dialog = byId("export");
      byId("open-export").addEventListener("click", () => this.show());
      byId("close-export").addEventListener("click", () => this.dialog.close());
      byId("export-address").addEventListener("focus", (event) => event.target.select());
      for (const button of this.dialog.querySelectorAll("[data-form]")) {
        button.addEventListener("click", () => this.give(button, button.dataset.form));
      }
    }

    /** The address of what is left, without page and figure. */
    address() {
      return location.href.split("#")[0] + "#" + this.filters.address({ page: 1, figure: "", sort: "" });
    }

    show() {
      const left = this.filters.hits.reduce((sum, hit) => sum + hit, 0);
      byId("export-count").textContent = `${plural(left, "panel")}, in the order of the release.`;
      byId("export-address").value = this.address();
      this.dialog.showModal();
    }

    async content(form) {
      const rows = await rowsOf(this.filters);
      if (form === "csv") return asCsv(rows);
      if (form === "txt") return rows.map(([id]) => id + "\n").join("");
      const columns = COLUMNS.map(([name, kind], i) => ({ name, kind, values: rows.map((row) => row[i]) }));
      return parquetFile(columns, { pmo_address: this.address(), pmo_gallery: data.version });
    }

    async give(button, form) {
      button.disabled = true;
      try {
        download(`panels.${form}`, MEDIA[form], await this.content(form));
      } catch (error) {
        announce(error.message);
        byId("export-count").textContent = error.message;
      } finally {
        button.disabled = false;
      }
    }
  }

  Object.assign(window.PmoGallery, { Export });
})();
