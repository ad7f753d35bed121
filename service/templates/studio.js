// Sends a page's forms without leaving it, as a browser without it does. What the page says,
// the service writes: the answer is the page as it is now.
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

  // Sends a form, and shows the page as the service has it then. Sent again, it is the same
  // submission: who is offline loses nothing.
  const send = async (body) => {
    const answer = await fetch(location.href, { method: "POST", body });
    if (answer.status >= 500 || answer.status === 429) return say(words.later);
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
    const entries = new URLSearchParams(new FormData(form));
    const button = form.querySelector("button");
    const label = button.textContent;
    sending = true;
    button.disabled = true;
    button.textContent = words.sending;
    try {
      await send(entries);
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
