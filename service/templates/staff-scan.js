// The script of staff pages, which has no texts of its own: the page has them.

// Refuses a photo that is too large before it is sent: the connection could break before the service
// has received it all, and its answer would be lost.
for (const input of document.querySelectorAll("input[type=file]")) {
  const check = () => {
    const [photo] = input.files;
    const isLarge = photo !== undefined && photo.size > Number(input.dataset.max);
    input.setCustomValidity(isLarge ? input.dataset.large : "");
    if (isLarge) input.reportValidity();
  };
  input.addEventListener("change", check);
  // A browser that goes back in its history has the same file again.
  addEventListener("pageshow", check);
}

// Scans one tag after the other in browsers with Web NFC: each tag opens its staff page in this tab.
// Without it, the phone itself opens tags.
(() => {
  const box = document.querySelector(".scan");
  if (!box || !("NDEFReader" in window)) return;
  const words = box.dataset;
  const status = box.querySelector("p");
  const button = box.querySelector("button");
  const ours = new Set([location.origin, ...words.origins.split(" ")]);
  // The next page goes on scanning, and knows which tag may still be at the phone.
  const ON = "tapdesk-scan";
  const LAST = "tapdesk-scan-last";
  // A tag that stays at the phone is read several times a second, each time with another code.
  const LIFTED_AFTER = 3000;
  let stop = null;

  const say = (text) => {
    status.textContent = text;
  };

  const show = () => {
    button.textContent = stop ? words.stop : words.start;
    button.setAttribute("aria-pressed", String(stop !== null));
  };

  const end = (text) => {
    sessionStorage.removeItem(ON);
    if (stop) stop.abort();
    stop = null;
    say(text);
    show();
  };

  // Chips with a random UID, which begins with 08, have another serial number at each reading.
  const isRandom = (serial) => !serial || serial.startsWith("08");
  const lastTag = () => JSON.parse(sessionStorage.getItem(LAST) || "null");
  const keep = (tag) => sessionStorage.setItem(LAST, JSON.stringify({ ...tag, at: Date.now() }));
  const isHere = (tag) => {
    const last = lastTag();
    if (!last || Date.now() - last.at > LIFTED_AFTER) return false;
    if (isRandom(tag.serial) || isRandom(last.serial)) return tag.place === last.place;
    return tag.serial === last.serial;
  };

  const urlOf = (message) => {
    const record = message.records.find((one) => one.recordType === "url" || one.recordType === "absolute-url");
    try {
      return record ? new URL(new TextDecoder().decode(record.data)) : null;
    } catch {
      return null;
    }
  };

  const read = ({ message, serialNumber }) => {
    const url = urlOf(message);
    if (!url) return say(words.noUrl);
    if (!ours.has(url.origin)) {
      return say(words.foreign.replace("{address}", () => url.host || url.protocol));
    }
    const tag = { serial: serialNumber, place: url.origin + url.pathname };
    const here = isHere(tag);
    keep(tag);
    if (here) return say(words.same);
    location.assign(url.href);
  };

  const start = async (byPerson) => {
    const control = new AbortController();
    try {
      const reader = new window.NDEFReader();
      reader.onreading = (event) => {
        if (stop === control) read(event);
      };
      reader.onreadingerror = () => {
        if (stop === control) say(words.unread);
      };
      stop = control;
      show();
      await reader.scan({ signal: control.signal });
      if (stop !== control) return;
      sessionStorage.setItem(ON, "1");
      say(words.ready);
    } catch (error) {
      if (stop !== control) return;
      const text = error.name === "NotAllowedError" ? words.refused : words.off;
      // A page that goes on by itself may lack the permission that a press asks for.
      end(byPerson ? text : "");
    }
  };

  button.addEventListener("click", () => (stop ? end("") : start(true)));
  box.hidden = false;
  show();
  if (sessionStorage.getItem(ON)) {
    // While a form was sent, nothing was read: the tag may have stayed at the phone all the time.
    const last = lastTag();
    if (last) keep(last);
    start(false);
  }
})();
