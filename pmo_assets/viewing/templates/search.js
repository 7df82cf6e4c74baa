(() => {
  "use strict";
  const byId = (id) => document.getElementById(id);
  const form = byId("ask"), said = byId("said"), list = byId("found"), more = byId("more");
  const { gallery } = JSON.parse(byId("settings").textContent);
  const STEP = 24, MOST = 96;
  // What is looked for: a text, a file, or a panel; `asked` numbers the questions, so that a late answer is left out.
  let file = null, panel = "", count = STEP, asked = 0, shownFile = "";
  const element = (name, properties, ...children) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  };
  const say = (text, bad) => {
    said.textContent = text;
    said.classList.toggle("bad", Boolean(bad));
  };
  const words = () => (form.elements.text ? form.elements.text.value.trim() : "");
  const query = () => {
    const chosen = new URLSearchParams();
    if (panel) chosen.set("panel", panel);
    else if (!file && words()) chosen.set("text", words());
    for (const select of form.querySelectorAll("select")) if (select.value) chosen.set(select.name, select.value);
    return chosen;
  };
  const pictureOf = (id) => `search/pictures/${encodeURIComponent(id)}`;
  const showLike = () => {
    if (shownFile) URL.revokeObjectURL(shownFile);
    shownFile = file ? URL.createObjectURL(file) : "";
    byId("like").hidden = !file && !panel;
    byId("like-picture").src = shownFile || (panel ? pictureOf(panel) : "data:,");
    byId("like-text").textContent = file ? `like ${file.name}` : `like panel ${panel}`;
  };
  const card = (hit) => {
    const picture = element("div", { className: "shown" });
    const none = () => picture.replaceChildren(element("p", {
      textContent: "no picture: the licence does not let it be passed on, or there is none",
    }));
    picture.append(element("img", { src: pictureOf(hit.panel_id), alt: `panel ${hit.panel_id}`, loading: "lazy", onerror: none }));
    const chips = [hit.modality, hit.eye, ...hit.diseases, hit.split].filter(Boolean);
    const text = element("p", { className: "words", textContent: hit.subcaption });
    const body = element("div", { className: "body" }, text);
    if (hit.subcaption.length > 220) {
      const end = element("button", { type: "button", className: "word-end", textContent: "whole text" });
      end.addEventListener("click", () => {
        end.textContent = text.classList.toggle("open") ? "less" : "whole text";
      });
      body.append(end);
    }
    body.append(
      element("div", { className: "chips" }, ...chips.map((word) => element("span", { textContent: word }))),
      element("p", {
        className: "credit",
        textContent: [hit.license || "no licence is stated", hit.attribution].filter(Boolean).join(" · "),
      }),
    );
    const foot = element("div", { className: "foot" });
    if (hit.article_url) foot.append(element("a", { href: hit.article_url, rel: "noopener noreferrer", textContent: "Article" }));
    if (gallery) {
      const address = new URLSearchParams({ figure: `PMC${hit.article_id}/${hit.image_cluster_id}` });
      foot.append(element("a", { href: `${gallery}#${address}`, textContent: "Figure" }));
    }
    const similar = element("button", { type: "button", textContent: "Similar" });
    similar.addEventListener("click", () => {
      forget();
      if (form.elements.text) form.elements.text.value = "";
      panel = hit.panel_id;
      ask(STEP);
      window.scrollTo({ top: 0 });
    });
    foot.append(similar, element("span", { className: "score", title: "cosine", textContent: hit.score.toFixed(3) }));
    body.append(foot);
    return element("li", {}, picture, body);
  };
  const forget = () => {
    file = null;
    panel = "";
    if (byId("picture")) byId("picture").value = "";
  };
  const ask = async (wanted) => {
    count = wanted;
    const chosen = query(), number = (asked += 1);
    showLike();
    history.replaceState(null, "", chosen.size ? `?${chosen}` : location.pathname);
    if (!file && !chosen.has("text") && !chosen.has("panel")) {
      list.replaceChildren();
      more.hidden = true;
      say("Nothing is looked for yet.");
      return;
    }
    say("Searching …");
    chosen.set("count", String(count));
    let told;
    try {
      const answer = await fetch(`search/panels?${chosen}`, file ? { method: "POST", body: file } : {});
      told = await answer.json();
    } catch {
      told = { error: "The server gave no answer: is pmo pages still running?" };
    }
    if (number !== asked) return;
    const hits = told.panels || [];
    list.replaceChildren(...hits.map(card));
    more.hidden = hits.length < count || count >= MOST;
    if (told.error) say(told.error, true);
    else say(`${hits.length} nearest panels, the nearest first. The number is a cosine: no probability.`);
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    forget();
    ask(STEP);
  });
  for (const select of form.querySelectorAll("select")) select.addEventListener("change", () => ask(STEP));
  more.addEventListener("click", () => ask(MOST));
  byId("like-end").addEventListener("click", () => {
    forget();
    ask(STEP);
  });
  const take = (chosen) => {
    if (!chosen) return;
    panel = "";
    file = chosen;
    if (form.elements.text) form.elements.text.value = "";
    ask(STEP);
  };
  if (byId("picture")) {
    byId("picture").addEventListener("change", (event) => take(event.target.files[0]));
    for (const name of ["dragover", "dragleave", "drop"])
      document.addEventListener(name, (event) => {
        event.preventDefault();
        form.classList.toggle("dropping", name === "dragover");
        if (name === "drop") take(event.dataTransfer.files[0]);
      });
  }
  const given = new URLSearchParams(location.search);
  panel = given.get("panel") || "";
  if (form.elements.text) form.elements.text.value = given.get("text") || "";
  for (const select of form.querySelectorAll("select")) {
    select.value = given.get(select.name) || "";
    if (select.selectedIndex < 0) select.value = "";
  }
  if (panel || words()) ask(STEP);
})();
