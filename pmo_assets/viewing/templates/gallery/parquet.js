/* A table as a Parquet file: one row group, a page per column, plain values, nothing compressed.
 *
 * Parquet format 2.10: pages and their headers (parquet.thrift) in Thrift's compact protocol, then the footer, its
 * length, and "PAR1". Columns are texts, whole numbers (64 bits) or fractions; any value may be null. */
(() => {
  "use strict";
  const KINDS = { text: 6, whole: 2, fraction: 5 }; // BYTE_ARRAY, INT64, DOUBLE
  const MAGIC = [80, 65, 82, 49];
  const utf8 = new TextEncoder();

  /** Bytes one after another. */
  class Bytes {
    constructor() {
      this.parts = [];
      this.length = 0;
    }

    add(part) {
      const bytes = part instanceof Uint8Array ? part : Uint8Array.from(part);
      this.parts.push(bytes);
      this.length += bytes.length;
      return this;
    }

    number(size, write) {
      const bytes = new Uint8Array(size);
      write(new DataView(bytes.buffer));
      return this.add(bytes);
    }

    int32(value) {
      return this.number(4, (view) => view.setInt32(0, value, true));
    }

    varint(value) {
      const bytes = [];
      for (let rest = BigInt(value); ; rest >>= 7n) {
        if (rest < 128n) return this.add([...bytes, Number(rest)]);
        bytes.push(Number(rest & 127n) | 128);
      }
    }

    whole() {
      const all = new Uint8Array(this.length);
      let at = 0;
      for (const part of this.parts) {
        all.set(part, at);
        at += part.length;
      }
      return all;
    }
  }

  // ---- Thrift's compact protocol: a struct is a list of [field, type, value] --------------------------------------
  const I32 = 5, I64 = 6, BINARY = 8, LIST = 9, STRUCT = 12;

  const put = (into, type, value) => {
    if (type === I32 || type === I64) into.varint(value >= 0 ? BigInt(value) * 2n : BigInt(value) * -2n - 1n);
    else if (type === BINARY) {
      const bytes = utf8.encode(value);
      into.varint(bytes.length).add(bytes);
    } else if (type === LIST) {
      const [of, values] = value;
      if (values.length < 15) into.add([values.length << 4 | of]);
      else into.add([0xf0 | of]).varint(values.length);
      for (const item of values) put(into, of, item);
    } else {
      let before = 0;
      for (const [field, kind, item] of value) {
        into.add([field - before << 4 | kind]);
        put(into, kind, item);
        before = field;
      }
      into.add([0]);
    }
  };

  const struct = (fields) => {
    const bytes = new Bytes();
    put(bytes, STRUCT, fields);
    return bytes.whole();
  };

  // ---- columns -----------------------------------------------------------------------------------------------------
  /** Which values are there: one bit each, in one run of the hybrid encoding (Encodings.md, RLE). */
  const levels = (values) => {
    const groups = Math.ceil(values.length / 8);
    const bits = new Uint8Array(groups);
    values.forEach((value, i) => { if (value !== null) bits[i >> 3] |= 1 << (i & 7); });
    const run = new Bytes().varint(groups * 2 + 1).add(bits);
    return new Bytes().int32(run.length).add(run.whole()).whole();
  };

  const plain = (kind, values) => {
    const bytes = new Bytes();
    for (const value of values) {
      if (value === null) continue;
      if (kind === "text") {
        const text = utf8.encode(value);
        bytes.int32(text.length).add(text);
      } else if (kind === "whole") bytes.number(8, (view) => view.setBigInt64(0, BigInt(value), true));
      else bytes.number(8, (view) => view.setFloat64(0, value, true));
    }
    return bytes.whole();
  };

  const page = (kind, values) => {
    const body = new Bytes().add(levels(values)).add(plain(kind, values)).whole();
    const header = struct([[1, I32, 0], [2, I32, body.length], [3, I32, body.length],
      [5, STRUCT, [[1, I32, values.length], [2, I32, 0], [3, I32, 3], [4, I32, 3]]]]);
    return new Bytes().add(header).add(body).whole();
  };

  /** A file's bytes.
   *  columns: of {name, kind, values}, kind one of KINDS; facts: texts by name, for the file's own metadata. */
  const parquetFile = (columns, facts) => {
    const rows = columns[0].values.length;
    const file = new Bytes().add(MAGIC);
    const chunks = columns.map(({ name, kind, values }) => {
      const start = file.length;
      file.add(page(kind, values));
      const size = file.length - start;
      return { size, chunk: [[2, I64, start], [3, STRUCT, [
        [1, I32, KINDS[kind]], [2, LIST, [I32, [0, 3]]], [3, LIST, [BINARY, [name]]], [4, I32, 0], [5, I64, rows],
        [6, I64, size], [7, I64, size], [9, I64, start]]]] };
    });
    const schema = [[[4, BINARY, "schema"], [5, I32, columns.length]], ...columns.map(({ name, kind }) => [
      [1, I32, KINDS[kind]], [3, I32, 1], [4, BINARY, name],
      ...(kind === "text" ? [[6, I32, 0], [10, STRUCT, [[1, STRUCT, []]]]] : [])])];
    const footer = struct([[1, I32, 2], [2, LIST, [STRUCT, schema]], [3, I64, rows],
      [4, LIST, [STRUCT, rows ? [[[1, LIST, [STRUCT, chunks.map(({ chunk }) => chunk)]],
        [2, I64, chunks.reduce((sum, { size }) => sum + size, 0)], [3, I64, rows]]] : []]],
      [5, LIST, [STRUCT, Object.entries(facts).map(([key, value]) => [[1, BINARY, key], [2, BINARY, value]])]],
      [6, BINARY, "pmo-assets gallery"]]);
    return file.add(footer).int32(footer.length).add(MAGIC).whole();
  };

  Object.assign(window.PmoGallery, { parquetFile });
})();
