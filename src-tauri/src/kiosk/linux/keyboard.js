// The keyboard of a visitor's page, for a touch screen without a real one. It appears for a field of
// text, and goes when a key of a real keyboard is pressed. It runs in a world of its own: the page's
// scripts see no part of it. No system keyboard is used, because a kiosk compositor shows none.
(() => {
  const LATIN = ["qwertyuiop", "asdfghjkl", "zxcvbnm"];
  const ROWS = {
    de: ["qwertzuiop", "asdfghjkl", "yxcvbnm"],
    fr: ["azertyuiop", "qsdfghjklm", "wxcvbn"],
    ar: ["ضصثقفغعهخحجد", "شسيبلاتنمكط", "ذئءؤرىةوزظ"],
    he: ["קראטוןםפ", "שדגכעיחלךף", "זסבהנמצתץ"],
  };
  /** Letters of a language that are on no key of its own. */
  const MORE = { de: "äöüß", fr: "éèàçêîôù", es: "áéíñóúü¿", it: "àèéìòù", pt: "ãáâçéêíõóú", nl: "éëïóü", pl: "ąćęłńóśźż", ar: "أإآ" };
  const SYMBOLS = ["1234567890", "@#€&%()-+=/", "!?'\":;,*_"];
  /** A key for the letters of a language whose script is not Latin; an address needs Latin ones. */
  const SCRIPTS = { ar: "أبج", he: "אבג" };
  const ADDRESSES = new Set(["email", "url", "password"]);
  const TEXTS = new Set(["text", "search", "email", "url", "tel", "number", "password"]);

  const language = navigator.language.toLowerCase().split("-")[0];
  const script = SCRIPTS[language];
  let host = null;
  let field = null;
  let symbols = false;
  let latin = false;
  let upper = false;
  let isReal = false;

  const isText = (element) =>
    element instanceof HTMLTextAreaElement || (element instanceof HTMLInputElement && TEXTS.has(element.type))
      ? !element.readOnly && !element.disabled
      : false;

  const STYLE = `
    :host { all: initial; position: fixed; inset: auto 0 0; z-index: 2147483647; direction: ltr; }
    div { box-sizing: border-box; }
    .board { display: grid; gap: 6px; padding: 10px max(10px, calc(50vw - 480px)) 14px; background: #14161d; box-shadow: 0 -2px 16px #0006; }
    .row { display: flex; gap: 6px; justify-content: center; }
    button { flex: 1 1 0; min-width: 0; max-width: 96px; height: clamp(44px, 7.4vh, 64px); margin: 0; padding: 0; border: 0;
      border-radius: 8px; color: #f6f4ef; background: #2d313d; font: 500 22px/1 system-ui, sans-serif; touch-action: none; }
    button:active { background: #4a5062; }
    .wide { flex-grow: 1.7; max-width: 164px; background: #1f222b; font-size: 18px; }
    .space { flex-grow: 6; max-width: none; }
    [aria-pressed="true"] { color: #14161d; background: #f6f4ef; }
  `;

  function press(key) {
    if (key === "⇧") upper = !upper;
    else if (key === "123" || key === "ABC") symbols = !symbols;
    else if (key === script || key === "abc") latin = !latin;
    else if (key === "⌫") document.execCommand("delete");
    else if (key === "✓" && field instanceof HTMLTextAreaElement) document.execCommand("insertText", false, "\n");
    else if (key === "✓") field.blur();
    else {
      document.execCommand("insertText", false, upper ? key.toUpperCase() : key);
      upper = false;
    }
    if (host) draw();
  }

  function button(key, kind = "") {
    const made = document.createElement("button");
    made.type = "button";
    made.tabIndex = -1;
    made.className = kind;
    made.textContent = upper && kind === "" ? key.toUpperCase() : key;
    if (key === " ") made.setAttribute("aria-label", "Space");
    if (key === "⇧") made.setAttribute("aria-pressed", String(upper));
    // The field keeps the focus, so that the key goes there.
    made.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      press(key);
    });
    return made;
  }

  function row(...keys) {
    const made = document.createElement("div");
    made.className = "row";
    made.append(...keys);
    return made;
  }

  let board = null;
  function draw() {
    const letters = symbols ? SYMBOLS : latin ? LATIN : (ROWS[language] ?? LATIN);
    const [first, second, third] = letters.map((keys) => [...keys].map((key) => button(key)));
    const more = symbols || latin ? [] : [...(MORE[language] ?? "")].map((key) => button(key));
    const scripts = script && !symbols ? [button(latin ? script : "abc", "wide")] : [];
    board.replaceChildren(
      ...(more.length > 0 ? [row(...more)] : []),
      row(...first),
      row(...second),
      row(...(symbols ? [] : [button("⇧", "wide")]), ...third, button("⌫", "wide")),
      row(button(symbols ? "ABC" : "123", "wide"), ...scripts, button("@"), button(" ", "space"), button("."), button("✓", "wide")),
    );
  }

  function show(element) {
    field = element;
    latin = script !== undefined && (ADDRESSES.has(element.type) || ADDRESSES.has(element.inputMode));
    symbols = element.type === "number" || element.type === "tel" || element.inputMode === "decimal" || element.inputMode === "numeric";
    if (!host) {
      host = document.createElement("div");
      const root = host.attachShadow({ mode: "closed" });
      // No policy of the page forbids a sheet that is made by script.
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(STYLE);
      root.adoptedStyleSheets = [sheet];
      board = document.createElement("div");
      board.className = "board";
      root.append(board);
      document.documentElement.append(host);
    }
    draw();
    // The page can be scrolled as far as the keyboard covers it.
    document.body.style.setProperty("padding-bottom", `${host.getBoundingClientRect().height + 24}px`);
    element.scrollIntoView({ block: "center" });
  }

  function hide() {
    field = null;
    host?.remove();
    host = null;
    document.body.style.removeProperty("padding-bottom");
  }

  addEventListener("focusin", (event) => !isReal && isText(event.target) && show(event.target), true);
  addEventListener("focusout", () => setTimeout(() => !isText(document.activeElement) && hide()), true);
  addEventListener(
    "keydown",
    (event) => {
      if (!event.isTrusted || !host) return;
      isReal = true;
      hide();
    },
    true,
  );
  // A page can give the focus to a field before this runs.
  if (isText(document.activeElement)) show(document.activeElement);
})();
