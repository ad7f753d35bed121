import { group } from "./suite.mjs";

const example = (name, words) => async (page, { ui }) => {
  await page.goto(`${ui.url}kiosk.html?example=${name}`);
  await page.getByText(words).first().waitFor();
};

group("Kiosk", {
  states: {
    "its settings, where it cannot stand": async (page) => {
      await page.show("settings/kiosk");
      await page.getByText("A kiosk belongs to the computer it stands on").waitFor();
    },
    attract: example("attract", "Lay your tag here"),
    "without a code": example("plain", "Lay your tag here"),
    "no reader": example("no-reader", "The reader is taking a break."),
    "a notice": example("notice", "That tag could not be read."),
    "a visit's strip": example("visit", "This page closes in 9 seconds"),
  },
});
