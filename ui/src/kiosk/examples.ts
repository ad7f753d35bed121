// Examples of the page, for a browser.

import type { Attract, View } from "./desktop";

const attract: Attract = {
  heading: "Place your tag here",
  text: "Put it on the reader to see its story.",
  name: "",
  colour: null,
  pictures: [],
  picture_seconds: 8,
  code: "http://192.0.2.7:8787/t/k3v9qa",
  sound: false,
  light: true,
};
const picture = encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 9" preserveAspectRatio="xMidYMid slice"><path fill="#fff" d="M0 0h16v9H0z"/></svg>',
);
const view: View = { visit: null, notice: null, has_reader: true, tags: 0, asked: 0, problem: null };

export const examples: Record<string, { attract: Attract; view: View; asking?: boolean }> = {
  attract: { attract, view },
  plain: { attract: { ...attract, code: null }, view },
  // The owner's colours, dark and bright.
  own: { attract: { ...attract, name: "Winery Lindenhof", colour: "#5c1030" }, view },
  bright: { attract: { ...attract, name: "Lemon & Co.", colour: "#ffd34d" }, view: { ...view, notice: "unread" } },
  "own-visit": { attract: { ...attract, colour: "#5c1030" }, view: { ...view, visit: { seconds_left: 9 } } },
  // The brightest picture: the text has to be readable on it, too.
  picture: { attract: { ...attract, pictures: [`data:image/svg+xml,${picture}`] }, view },
  "no-reader": { attract, view: { ...view, has_reader: false } },
  notice: { attract, view: { ...view, notice: "unread" } },
  visit: { attract, view: { ...view, visit: { seconds_left: 9 } } },
  "no-pin": {
    attract,
    view: {
      ...view,
      problem: {
        title: "This kiosk has no PIN yet.",
        text: "The kiosk does not start without a PIN, which is the only way to leave it. Close Tapdesk, start it without --kiosk, and set the PIN under Settings, Kiosk.",
        can_close: true,
      },
    },
  },
  pin: { attract, view, asking: true },
};
