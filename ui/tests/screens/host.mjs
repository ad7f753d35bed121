// A stand-in for the desktop, for what a browser cannot show: it answers the
// kiosk's commands with data, and notes the PINs that were tried.

const chosen = {
  display: "A display that is gone",
  heading: "Place your tag here",
  text: "Put it on the reader to see its story.",
  name: "Winery Lindenhof",
  colour: "#5c1030",
  idle_seconds: 60,
  picture_seconds: 8,
  hosts: [],
  code: null,
  sound: false,
  light: false,
  autostart: false,
};
const answers = {
  kiosk_attract: { ...chosen, pictures: [] },
  kiosk_unlock: { outcome: "wrong" },
  kiosk_settings: {
    chosen,
    has_pin: true,
    pictures: [{ name: "gone.png", url: null }],
    displays: ["HDMI-1 (1920 × 1080)"],
    today: { visits: 41, done: 30, other_host: 2, copied: 0, unread: 3, failed: 0 },
  },
};

/** Lets the desktop refuse a form, with these errors at its fields. */
export const refuseForm = (page, command, detail, errors) =>
  page.evaluate(([command, refused]) => (globalThis.host.refused[command] = refused), [command, { detail, errors }]);

/** Lets every document of `page` from now on find a desktop around it. */
export const kioskHost = (page) =>
  page.addInitScript((answers) => {
    const callbacks = [];
    const host = { tried: [], closed: false, refused: {}, show: () => undefined };
    const here = { id: "embedded", name: "This computer", kind: "embedded", url: location.origin };
    const ready = {
      phase: "ready",
      version: "0.0.0",
      connection: here,
      connections: [here],
      address: location.origin,
      tag_url: `${location.origin}/t`,
      lan: ["http://192.0.2.7:8787"],
      listen_fixed: false,
      port_fixed: null,
      key_store: { kind: "file", text: "" },
      database: "",
    };
    async function invoke(command, { channel, pin } = {}) {
      if (command === "shell_state") return ready;
      if (host.refused[command]) throw host.refused[command];
      if (command === "kiosk_watch") {
        let index = 0;
        host.show = (view) => callbacks[channel.id]({ index: index++, message: view });
        host.show({ visit: null, notice: null, has_reader: true, tags: 0, asked: 0, problem: null });
      }
      if (command === "kiosk_unlock") host.tried.push(pin);
      if (command === "kiosk_close") host.closed = true;
      return answers[command];
    }
    globalThis.isTauri = true;
    globalThis.host = host;
    globalThis.__TAURI_INTERNALS__ = {
      invoke,
      convertFileSrc: () => `${location.origin}/`,
      transformCallback: (callback) => callbacks.push(callback) - 1,
      unregisterCallback: () => undefined,
    };
  }, answers);
