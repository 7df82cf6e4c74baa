/* Loads data files. Pages from a disk may not read files, only run scripts, so each data file is a script that calls
 * PmoGallery.put(kind, number, value). What was loaded is kept as long as there is room, the oldest goes first. */
(() => {
  "use strict";
  document.documentElement.classList.add("js");
  const version = document.querySelector("meta[name=data-version]").content;
  const ROOM = { figures: 80, pictures: 8, context: 8, regions: 8, instructions: 8, words: 120, pairs: 60, said: 60, saidpairs: 60, ids: 400 };
  const kept = {};
  const waiting = new Map();
  let resolveCatalogue;
  const catalogue = new Promise((resolve) => { resolveCatalogue = resolve; });

  const put = (kind, number, value) => {
    if (kind === "catalogue") {
      resolveCatalogue(value);
      return;
    }
    const name = kind + "/" + number;
    const file = waiting.get(name);
    if (file) file.arrived(value);
  };

  const insert = (kind, number) => new Promise((resolve, reject) => {
    const name = kind + "/" + number;
    const script = document.createElement("script");
    const done = () => { script.remove(); waiting.delete(name); };
    waiting.set(name, { arrived: resolve });
    script.src = "data/" + kind + "/" + Math.floor(number / 100) + "/" + number + ".js?v=" + version;
    script.onload = () => {
      done();
      reject(new Error(name + " holds something else")); // after put() this has no effect
    };
    script.onerror = () => {
      done();
      reject(new Error(name + " cannot be loaded"));
    };
    document.head.append(script);
  });

  /** Promise of what file `number` of a kind holds. */
  const load = (kind, number) => {
    const room = (kept[kind] ??= new Map());
    const known = room.get(number);
    if (known) {
      room.delete(number); // and in again, as the newest
      room.set(number, known);
      return known;
    }
    const loading = insert(kind, number);
    room.set(number, loading);
    loading.catch(() => room.delete(number));
    if (room.size > ROOM[kind]) room.delete(room.keys().next().value);
    return loading;
  };

  const bytes = (text) => {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
    const raw = atob(text);
    const result = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i += 1) result[i] = raw.charCodeAt(i);
    return result;
  };

  /** The numbers of a packed column ("u16:…"); it must be read on a little-endian machine, as all browsers' are. */
  const unpacked = (text) => {
    const at = text.indexOf(":");
    const raw = bytes(text.slice(at + 1));
    return new { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array }[text.slice(0, at)](raw.buffer);
  };

  window.PmoGallery = { put, data: { catalogue, load, bytes, unpacked, version } };
})();
