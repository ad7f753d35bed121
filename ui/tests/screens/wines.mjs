// A product in a folder, with two batches of tags.

const made = new WeakMap();

/** Made once for each service, with as many bottles as are asked for first. */
export function wines(api, bottles = 3) {
  if (!made.has(api)) made.set(api, make(api, bottles));
  return made.get(api);
}

async function make(api, bottles) {
  const { items } = await api.get("/experiences?q=Register");
  const folder = await api.post("/groups", { kind: "folder", name: "Wines" });
  const product = await api.post("/groups", {
    kind: "product",
    name: "Grand Cru 2021",
    code: "GC-21",
    gtin: "9520123456788",
    parent_id: folder.id,
    experience_id: items[0].id,
    title: "Grand Cru",
    attributes: { colour: "red" },
  });
  const batches = [];
  for (const name of ["L03", "L04"]) batches.push(await api.post("/groups", { kind: "batch", name, code: name, parent_id: product.id }));
  const tags = [];
  for (let number = 1; number <= bottles; number++) {
    const name = `Wine bottle ${number}`;
    tags.push(await api.post("/tags", { name, slug: `wine-${number}0000`, group_id: batches[number % 3 === 0 ? 1 : 0].id }));
  }
  return { folder, product, batches, tags };
}
