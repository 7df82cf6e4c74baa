(() => {
  "use strict";
  for (const table of document.querySelectorAll("table")) {
    const heads = Array.from(table.tHead.rows[0].cells);
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const numeric = head.classList.contains("r");
        const first = numeric ? "descending" : "ascending";
        const second = numeric ? "ascending" : "descending";
        const order = head.getAttribute("aria-sort") === first ? second : first;
        for (const other of heads) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", order);
        const sign = order === "ascending" ? 1 : -1;
        const rows = Array.from(table.tBodies[0].rows);
        const key = (row) => (numeric ? row.cells[column].dataset.key : row.cells[column].textContent);
        rows.sort((a, b) => {
          const x = key(a), y = key(b);
          // Blanks stay at the end whatever the order.
          if (numeric && (x === "" || y === "")) return (x === "") - (y === "");
          return sign * (numeric ? Number(x) - Number(y) : x.localeCompare(y, "en", { numeric: true }));
        });
        table.tBodies[0].append(...rows);
      });
    });
  }
})();
