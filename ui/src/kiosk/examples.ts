// Examples of the page, for a browser.

import type { Attract, View } from "./desktop";
import { atRest, type Moment } from "./scene";

const attract: Attract = {
  heading: "Place your tag here",
  text: "Put it on the reader to see its story.",
  name: "",
  colour: null,
  logo: null,
  pictures: [],
  picture_seconds: 8,
  code: "http://192.0.2.7:8787/t/k3v9qa",
  languages: [],
  sound: false,
  light: true,
};
const svg = (text: string) => `data:image/svg+xml,${encodeURIComponent(text)}`;
const picture = svg(
  '<svg xmlns="http://www.w3.org/2000/svg" width="16" height="9" viewBox="0 0 16 9" preserveAspectRatio="xMidYMid slice"><path fill="#fff" d="M0 0h16v9H0z"/></svg>',
);
const logo = svg(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 120 48" width="120" height="48"><g fill="none" stroke="#fff" stroke-width="4"><circle cx="24" cy="24" r="20"/><path d="M24 12v24M14 20l10-8 10 8M60 10v28h20M92 10v28M92 24h20M112 10v28"/></g></svg>',
);
const view = atRest;
const opening = { number: 1, seconds_left: 60, verified: null, is_open: false };
const visit = { ...opening, seconds_left: 9, is_open: true };
const own = { ...attract, name: "Winery Lindenhof", colour: "#5c1030", languages: ["en", "de", "fr"] };

export const examples: Record<string, { attract: Attract; view: View; asking?: boolean; moment?: Moment }> = {
  attract: { attract, view },
  plain: { attract: { ...attract, code: null }, view },
  // The owner's colours, dark and bright.
  own: { attract: own, view },
  bright: { attract: { ...attract, name: "Lemon & Co.", colour: "#ffd34d" }, view: { ...view, notice: "unread" } },
  logo: { attract: { ...own, logo }, view },
  "own-visit": { attract: own, view: { ...view, visit } },
  // The brightest picture: the text has to be readable on it, too.
  picture: { attract: { ...attract, pictures: [picture] }, view },
  waiting: { attract: own, view: { ...view, has_tag: true, is_reading: true } },
  genuine: { attract: own, view: { ...view, has_tag: true, visit: { ...opening, verified: true } } },
  "not-verified": { attract: own, view: { ...view, has_tag: true, visit: { ...opening, verified: false } } },
  read: { attract, view: { ...view, has_tag: true, visit: opening } },
  goodbye: { attract: own, view: { ...view, has_tag: true }, moment: { goodbye: true, left: false } },
  // As much as the settings allow, and a message below it.
  long: {
    attract: {
      ...own,
      heading:
        "Willkommen in der Donaudampfschifffahrtsgesellschaftskapitänsmützenausstellung des Weltkulturerbes Wachau an der Donau".padEnd(
          120,
          "!",
        ),
      text: "Legen Sie Ihren Anhänger auf das Lesegerät, um die Geschichte Ihrer Flasche zu sehen. ".repeat(5).slice(0, 400),
      name: "Weingut Lindenhof am Donauufer GmbH & Co",
      languages: ["de", "en", "pt", "nl"],
    },
    view: { ...view, notice: "unread" },
  },
  lift: { attract: own, view: { ...view, has_tag: true }, moment: { goodbye: false, left: true } },
  "no-reader": { attract, view: { ...view, has_reader: false } },
  "no-service": { attract: own, view: { ...view, has_service: false } },
  waits: {
    attract: own,
    view: {
      ...view,
      has_service: false,
      problem: {
        title: "Port 8787 is used by another program.",
        text: "1 chip leads to port 8787. Close the other program and try again. Tapdesk tries again by itself.",
        can_close: false,
        passes: true,
      },
    },
  },
  notice: { attract, view: { ...view, notice: "unread" } },
  // The longest message, and as many languages as there are beside each other.
  message: { attract: { ...attract, languages: ["en", "de", "fr", "pl"] }, view: { ...view, notice: "copied" } },
  visit: { attract, view: { ...view, visit } },
  "no-pin": {
    attract,
    view: {
      ...view,
      problem: {
        title: "This kiosk has no PIN yet.",
        text: "The kiosk does not start without a PIN, which is the only way to leave it. Close Tapdesk, start it without --kiosk, and set the PIN under Settings, Kiosk.",
        can_close: true,
        passes: false,
      },
    },
  },
  pin: { attract, view, asking: true },
};
