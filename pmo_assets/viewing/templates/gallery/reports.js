/* Mistakes that a reader reports: gathered in the browser until they are taken along as one file, which
 * `pmo annotate export --reports FILE` makes tasks of. Nothing is sent anywhere. */
(() => {
  "use strict";
  const { element, plural, download, byId, announce } = window.PmoGallery.elements;
  const PLACE = "pmo-gallery-reports";
  const LONGEST = 1000;

  class Reports {
    constructor(catalogue) {
      this.catalogue = catalogue;
      this.list = this.stored();
      this.dialog = byId("reports");
      byId("open-reports").addEventListener("click", () => { this.show(); this.dialog.showModal(); });
      byId("close-reports").addEventListener("click", () => this.dialog.close());
      byId("download-reports").addEventListener("click", () => this.download());
      byId("clear-reports").addEventListener("click", () => {
        if (window.confirm("Remove all reports from this browser? Those that were not downloaded are lost.")) this.keep([]);
      });
      window.addEventListener("storage", (event) => {
        if (event.key === PLACE) { this.list = this.stored(); this.show(); }
      });
      this.show();
    }

    stored() {
      try {
        const list = JSON.parse(localStorage.getItem(PLACE) || "[]");
        return Array.isArray(list) ? list.filter((item) => item && typeof item === "object") : [];
      } catch {
        return []; // no storage here, or not ours: reports last as long as the page
      }
    }

    keep(list) {
      this.list = list;
      try {
        localStorage.setItem(PLACE, JSON.stringify(list));
      } catch { /* no storage here: see above */ }
      this.show();
    }

    show() {
      byId("report-count").textContent = this.list.length;
      byId("open-reports").hidden = this.list.length === 0;
      byId("report-list").replaceChildren(...this.list.map((report, i) => element("li", {},
        element("div", {},
          element("strong", {}, `${report.article} · ${report.label}` + (report.panel ? ` · panel ${report.panel}` : "")),
          element("p", {}, this.catalogue.reports.mistakes[report.mistake] || String(report.mistake)),
          report.remark && element("p", { class: "remark", dir: "auto" }, report.remark)),
        element("button", { type: "button", class: "btn", "aria-label": `Remove the report on ${report.label}`,
          onclick: () => this.keep(this.list.filter((_, other) => other !== i)) }, "Remove"))));
      for (const id of ["download-reports", "clear-reports"]) byId(id).disabled = this.list.length === 0;
    }

    text() {
      return JSON.stringify({
        pmo_reports: this.catalogue.reports.format, gallery: this.catalogue.title,
        version: window.PmoGallery.data.version, reports: this.list,
      }, null, 1) + "\n";
    }

    download() {
      download("pmo_reports.json", "application/json", this.text());
    }

    /** The form of a figure's view. */
    form({ entry, article }) {
      const panels = entry.panels || [];
      const mistakes = this.catalogue.reports.mistakes;
      const mistake = element("select", { required: true }, element("option", { value: "" }, "Choose…"),
        Object.entries(mistakes).map(([value, words]) => element("option", { value }, words)));
      const panel = element("select", {}, element("option", { value: "" }, "the whole figure"),
        panels.map((item, i) => element("option", { value: i }, `panel ${item.name || i + 1}`)));
      const remark = element("textarea", { rows: 3, maxlength: LONGEST, placeholder: "What it should be, if you know" });
      const said = element("p", { class: "said", role: "status" });
      const field = (words, control) => element("label", {}, element("span", {}, words), control);
      return element("details", { class: "report" }, element("summary", {}, "Report a mistake"),
        element("form", { onsubmit: (event) => {
          event.preventDefault();
          const chosen = panel.value === "" ? null : panels[Number(panel.value)];
          this.keep([...this.list, {
            article: article.name, article_id: Number(article.id), figure: entry.cluster, label: entry.label,
            panel_id: chosen ? chosen.id : null, panel: chosen ? chosen.name || null : null,
            mistake: mistake.value, remark: remark.value.trim(), at: new Date().toISOString(),
          }]);
          event.target.reset();
          said.textContent = `Noted. ${plural(this.list.length, "report")} to download (top right of the page).`;
          announce(said.textContent);
        } },
        field("What is wrong", mistake), panels.length > 1 && field("Where", panel), field("Remark", remark),
        element("div", { class: "buttons" }, element("button", { class: "btn main" }, "Add to my reports"),
          element("button", { type: "button", class: "btn", onclick: () => this.download() }, "Download all")),
        said));
    }
  }

  Object.assign(window.PmoGallery, { Reports });
})();
