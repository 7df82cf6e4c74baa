(() => {
  "use strict";
  const facts = JSON.parse(document.getElementById("points").textContent);
  const points = Array.from(document.querySelectorAll(".plot use"));
  const shown = document.getElementById("shown");
  let chosen = -1;
  const line = (text, name) => {
    const paragraph = document.createElement("p");
    if (name) paragraph.className = name;
    paragraph.textContent = text;
    return paragraph;
  };
  const show = (index) => {
    if (chosen >= 0) points[chosen].classList.remove("chosen");
    chosen = index;
    const point = points[index], fact = facts[index];
    point.classList.add("chosen");
    const parts = [];
    if (fact.picture) {
      const image = document.createElement("img");
      image.src = fact.picture;
      image.alt = fact.title;
      parts.push(image);
    } else parts.push(line("no picture: the licence does not let it be passed on, or there is none", "credit"));
    parts.push(line(`${fact.label}: ${fact.title}`));
    if (fact.text) parts.push(line(fact.text));
    if (fact.credit) parts.push(line(fact.credit, "credit"));
    shown.replaceChildren(...parts);
  };
  const plot = document.querySelector(".plot svg");
  plot.addEventListener("pointerover", (event) => {
    const index = points.indexOf(event.target);
    if (index >= 0) show(index);
  });
  plot.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step || !points.some((point) => !point.hasAttribute("hidden"))) return;
    event.preventDefault();
    let index = chosen;
    do index = (index + step + points.length) % points.length; while (points[index].hasAttribute("hidden"));
    show(index);
  });
  for (const box of document.querySelectorAll(".classes input"))
    box.addEventListener("change", () => {
      for (const point of points)
        if (point.dataset.label === box.value) point.toggleAttribute("hidden", !box.checked);
    });
})();
