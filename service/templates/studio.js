// Sends a page's forms without leaving it. What the page says, the service writes:
// once something is sent, it is asked for the page as it is now.
(() => {
  const words = document.currentScript.dataset;
  const ends = Date.now() + Number(words.left);
  let sending = false;

  const say = (text) => {
    const said = document.getElementById("said");
    said.hidden = false;
    said.textContent = text;
    said.scrollIntoView({ block: "nearest" });
  };

  const over = () => {
    if (sending || Date.now() < ends) return;
    for (const form of document.forms) {
      const field = form.querySelector("fieldset");
      if (field.disabled) continue;
      field.disabled = true;
      const wait = form.querySelector(".wait");
      wait.textContent = words.over;
      wait.hidden = false;
    }
  };

  const post = (url, body, type) =>
    fetch(url, { method: "POST", body, headers: type && { "content-type": type, "idempotency-key": "page" } });

  // The page as the service has it for this key; with more than the key, the form is sent on the way.
  const show = async (body) => {
    const answer = await post(location.href, body);
    // Only what is new is read: another style would be the policy's to refuse.
    const html = await answer.text();
    const fresh = html.slice(html.indexOf("<main"), html.lastIndexOf("</main>"));
    const main = new DOMParser().parseFromString(fresh, "text/html").querySelector("main");
    if (!main) throw new Error();
    document.querySelector("main").replaceWith(document.adoptNode(main));
    const said = main.querySelector(".said:not([hidden])");
    if (said) said.tabIndex = -1;
    (said || main).focus({ preventScroll: true });
    scrollTo(0, 0);
  };

  addEventListener("submit", async (event) => {
    event.preventDefault();
    if (sending) return;
    const form = event.target;
    const entries = new FormData(form);
    const key = entries.get("rolling_key");
    const data = {};
    for (const [name, value] of entries) if (name !== "rolling_key") data[name] = value.replace(/\r\n?/g, "\n");
    const button = form.querySelector("button");
    const label = button.textContent;
    sending = true;
    button.disabled = true;
    button.textContent = words.sending;
    try {
      const answer = await post("/v2/interactions/data", JSON.stringify({ rolling_key: key, data }), "application/json");
      if (answer.ok) {
        await show(new URLSearchParams({ rolling_key: key, saved: "1" })).catch(() => {
          say(words.saved);
          form.querySelector("fieldset").disabled = true;
        });
      } else if (answer.status < 500 && answer.status !== 429) {
        await show(new URLSearchParams(entries));
      } else say(words.later);
    } catch {
      say(words.offline);
    }
    sending = false;
    if (button.isConnected) {
      button.disabled = false;
      button.textContent = label;
    }
    over();
  });

  // Going back, or restoring a tab, asks for the page's address as a new scan of a static
  // URL would. This one says that it is none, and the page is answered again.
  const here = location.search.slice(1);
  if (/^http/.test(location.protocol) && !/(^|&)((uid|token)=|again$)/.test(here))
    history.replaceState(history.state, "", `?${here && `${here}&`}again`);

  setTimeout(over, ends - Date.now() + 50);
  for (const name of ["pageshow", "focus", "visibilitychange"]) addEventListener(name, over, true);
})();
