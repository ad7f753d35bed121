// Shows the verdict of the tap, and registers the product. All texts are in index.html.

const byId = (id) => document.getElementById(id);

/** Shows the element whose attribute data-verdict or data-answer has this value, and hides the others. */
function show(kind, value) {
  for (const element of document.querySelectorAll(`[data-${kind}]`)) element.hidden = element.dataset[kind] !== value;
}

// `null` means "not checked", such as a QR code. It never means that a product is fake.
const verdicts = new Map([
  [true, "genuine"],
  [false, "not-verified"],
  [null, "not-checked"],
]);

let tap;

async function check() {
  show("verdict", "checking");
  byId("retry").hidden = true;
  // Without the script, the key is still in the address, and a reload tries again.
  tap = globalThis.tapdesk ? await tapdesk.tap() : { reason: "unreachable" };
  show("verdict", tap.reason === "ok" ? verdicts.get(tap.verified) : tap.reason);
  if (tap.tag) byId("name").textContent = tap.tag.title || tap.tag.name;
  byId("retry").hidden = tap.reason !== "unreachable";
  byId("register").hidden = tap.verified !== true;
}

byId("retry").addEventListener("click", () => (globalThis.tapdesk ? check() : location.reload()));

byId("register").addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = event.target.querySelector("button");
  const owner = new FormData(event.target).get("owner");
  button.disabled = true;
  show("answer", "sending");
  try {
    // All values are stored, or none. `update` sends an idempotency key, so a second click does no harm.
    const { ok, reason } = await tap.update({ registered: "true", owner });
    show("answer", reason);
    event.target.hidden = ok;
  } catch (error) {
    console.error(error);
    show("answer", "invalid");
  } finally {
    button.disabled = false;
  }
});

check();
