// The behaviour of the section: shows the verdict of the tap, and registers the product. Texts are settings of the section.

(() => {
  const root = document.querySelector("[data-tapdesk]");
  const retry = root.querySelector("[data-retry]");
  const form = root.querySelector("[data-register]");

  /** Shows the element whose attribute data-verdict or data-answer has this value, and hides the others. */
  const show = (kind, value) => {
    for (const element of root.querySelectorAll(`[data-${kind}]`)) element.hidden = element.dataset[kind] !== value;
  };

  // `null` means "not checked", such as a QR code. It never means that a product is fake.
  const verdicts = new Map([
    [true, "genuine"],
    [false, "not_verified"],
    [null, "not_checked"],
  ]);
  /** Reasons of an update whose names are verdicts, too. */
  const answers = { expired: "late", unreachable: "lost" };

  let tap;

  const check = async () => {
    show("verdict", "checking");
    retry.hidden = true;
    // Without the script, the key is still in the address, and a reload tries again.
    tap = globalThis.tapdesk ? await tapdesk.tap() : { reason: "unreachable" };
    show("verdict", tap.reason === "ok" ? verdicts.get(tap.verified) : tap.reason);
    if (tap.tag) root.querySelector("[data-name]").textContent = tap.tag.title || tap.tag.name;
    retry.hidden = tap.reason !== "unreachable";
    if (form) form.hidden = tap.verified !== true;
  };

  retry.addEventListener("click", () => (globalThis.tapdesk ? check() : location.reload()));

  form?.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = form.querySelector("button");
    button.disabled = true;
    try {
      // All values are stored, or none. `update` sends an idempotency key, so a second click does no harm.
      const { ok, reason } = await tap.update({ registered: "true", owner: new FormData(form).get("owner") });
      show("answer", answers[reason] ?? reason);
      form.hidden = ok;
    } catch (error) {
      console.error(error);
      show("answer", "invalid");
    } finally {
      button.disabled = false;
    }
  });

  void check();
})();
