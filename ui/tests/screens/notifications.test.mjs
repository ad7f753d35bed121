import assert from "node:assert/strict";
import { createServer } from "node:http";
import { mailbox } from "./mailbox.mjs";
import { group } from "./suite.mjs";

const dialog = (page) => page.getByRole("dialog");
const press = (page, name) => page.getByRole("button", { name, exact: true }).click();
const list = async (page) => {
  await page.show("settings/notifications");
  await page.getByRole("heading", { name: "Notifications", exact: true }).waitFor();
};
const rowOf = (page, recipients) => page.getByRole("row").filter({ hasText: recipients });
const act = async (page, recipients, action) => {
  await rowOf(page, recipients).hover();
  await press(page, `More actions for ${recipients}`);
  await page.getByRole("menuitem", { name: action, exact: true }).click();
};

/** Removes everything, so that a story begins as on the first day. */
async function clear(api) {
  for (const { id } of (await api.get("/notifications")).items) await api.remove(`/notifications/${id}`);
  await api.remove("/mail").catch(() => undefined);
}
const server = (port, more = {}) => ({ host: "127.0.0.1", port, security: "none", from: "tapdesk@example.com", ...more });
/** A port of this computer at which nothing listens. */
const NOBODY = 9;
const alert = (mail, more = {}) => ({ kind: "alert", events: ["alert.disk_low", "alert.backup_failed"], channel: { mail }, ...more });

/** Does `work` with a mail server of its own. */
const withMailbox = (options, work) => async (page, world) => {
  const box = await mailbox(options);
  try {
    await clear(world.api);
    await work(page, world, box);
  } finally {
    box.close();
  }
};

/** Starts a receiver of chat messages. */
async function chat() {
  const texts = [];
  const receiver = createServer((incoming, outgoing) => {
    let body = "";
    incoming.on("data", (piece) => (body += piece)).on("end", () => (texts.push(JSON.parse(body).text), outgoing.end("ok")));
  });
  await new Promise((listening) => receiver.listen(0, "127.0.0.1", listening));
  const host = `127.0.0.1:${receiver.address().port}`;
  return { host, url: `http://${host}/hooks/secret-part`, texts, close: () => (receiver.closeAllConnections(), receiver.close()) };
}

group("Notifications", {
  // A chat on this computer, in place of one on the internet.
  options: { TAPDESK_PRIVATE_WEBHOOKS: "true" },
  states: {
    "none yet": async (page, { api }) => {
      await clear(api);
      await list(page);
      await page.getByText("No notifications yet").waitFor();
    },
    "a new mail server": async (page) => {
      await list(page);
      await press(page, "Set up…");
      await dialog(page).getByLabel("Host").waitFor();
    },
    "a new notification without a mail server": async (page) => {
      await list(page);
      await press(page, "New notification…");
      await dialog(page).getByText("There is no mail server yet").waitFor();
    },
    "a new report to a chat": async (page) => {
      await list(page);
      await press(page, "New notification…");
      await dialog(page)
        .getByRole("radio", { name: /^Report/ })
        .check();
      await dialog(page).getByLabel("To a chat").check();
      await dialog(page).getByText("Rocket.Chat").waitFor();
    },
    "a list of them": async (page, { api }) => {
      await clear(api);
      await api.put("/mail", server(NOBODY));
      await api.post("/notifications", alert(["anna@example.com", "ben@example.com"]));
      await api.post("/notifications", {
        kind: "report",
        every: "week",
        time_zone: "Europe/Berlin",
        channel: { mail: ["shop@example.com"] },
      });
      await api.post("/notifications", { ...alert([]), channel: { chat: "https://hooks.slack.com/services/T0/B0/x" }, enabled: false });
      await list(page);
      await page.getByText("Weekly report, Europe/Berlin").waitFor();
    },
    "a changed mail server": async (page) => {
      await list(page);
      await press(page, "Change…");
      await dialog(page).getByLabel("Host").waitFor();
    },
    "a changed notification": async (page) => {
      await list(page);
      await act(page, "anna@example.com, ben@example.com", "Change…");
      await dialog(page).getByLabel("Mail addresses").waitFor();
    },
    "a test message that fails": async (page) => {
      await list(page);
      await act(page, "anna@example.com, ben@example.com", "Send test message");
      await dialog(page).getByText("Not sent to ben@example.com.").waitFor();
    },
  },
  stories: {
    "reach people by a mail server that is set up in the screen": withMailbox({}, async (page, { api }, box) => {
      await list(page);
      await press(page, "Set up…");
      const port = dialog(page).getByLabel("Port");
      assert.equal(await port.inputValue(), "465");
      await dialog(page).getByLabel("Security").selectOption("STARTTLS");
      assert.equal(await port.inputValue(), "587");
      await port.fill(String(box.port));
      await dialog(page).getByLabel("Security").selectOption("None");
      assert.equal(await port.inputValue(), String(box.port));
      await dialog(page).getByLabel("Host").fill("127.0.0.1");
      await dialog(page).getByLabel("From").fill("tapdesk@example.com");
      await press(dialog(page), "Save mail server");
      await page.getByText(`tapdesk@example.com via 127.0.0.1:${box.port}, not encrypted`).waitFor();
      assert.equal((await api.get("/mail")).has_password, false);

      // The notice leads to the test.
      await page.locator(".notice").getByRole("button", { name: "Send test mail…" }).click();
      await dialog(page).getByLabel("To", { exact: true }).fill("anna@example.com");
      await press(dialog(page), "Send test mail");
      await dialog(page).getByText("Sent to anna@example.com.").waitFor();
      assert.deepEqual(
        box.mails.map(({ from, to, subject }) => [from, to, subject]),
        [["tapdesk@example.com", ["anna@example.com"], "Tapdesk: test"]],
      );
      await press(dialog(page), "Close");

      await press(page, "New notification…");
      const create = dialog(page).getByRole("button", { name: "Create notification" });
      assert.ok(await create.isDisabled());
      await dialog(page).getByLabel("Mail addresses").fill("anna@example.com, ben@example.com");
      await dialog(page)
        .getByRole("checkbox", { name: /^Daily limit of tags/ })
        .uncheck();
      await dialog(page).getByLabel("Later alerts").selectOption("at most daily");
      await dialog(page).getByLabel("Time zone").selectOption("Europe/Berlin");
      await create.click();
      await page.getByText("Notification saved.").waitFor();
      const [made] = (await api.get("/notifications")).items;
      assert.deepEqual(made.channel, { mail: ["anna@example.com", "ben@example.com"] });
      assert.deepEqual([made.kind, made.every, made.time_zone, made.events.length], ["alert", "day", "Europe/Berlin", 8]);
      await rowOf(page, "anna@example.com").getByText("Nothing sent yet").waitFor();

      await act(page, "anna@example.com, ben@example.com", "Send test message");
      await dialog(page).getByText("Sent to anna@example.com.").waitFor();
      await dialog(page).getByText("Sent to ben@example.com.").waitFor();
      // Each has a mail of their own.
      assert.deepEqual(
        box.mails.slice(1).map(({ to }) => to),
        [["anna@example.com"], ["ben@example.com"]],
      );
    }),
    "say which step failed, with the server's answer": withMailbox({ refused: ["ben@example.com"] }, async (page, { api }, box) => {
      await api.put("/mail", server(box.port));
      await api.post("/notifications", alert(["anna@example.com", "ben@example.com"]));
      await list(page);
      await press(page, "Send test mail…");
      await dialog(page).getByLabel("To", { exact: true }).fill("ben@example.com");
      await press(dialog(page), "Send test mail");
      await dialog(page).getByText("Not sent to ben@example.com. Failed step: recipient.").waitFor();
      await dialog(page).getByText("550 5.1.1 No such user").waitFor();
      await press(dialog(page), "Close");
      await act(page, "anna@example.com, ben@example.com", "Send test message");
      await dialog(page).getByText("Sent to anna@example.com.").waitFor();
      await dialog(page).getByText("Not sent to ben@example.com. Failed step: recipient.").waitFor();
    }),
    "go to a chat, whose URL stays a secret in the list": async (page, { api }) => {
      const receiver = await chat();
      try {
        await clear(api);
        await list(page);
        await press(page, "New notification…");
        await dialog(page)
          .getByRole("radio", { name: /^Report/ })
          .check();
        assert.equal(await dialog(page).getByLabel("Period").inputValue(), "week");
        await dialog(page).getByLabel("To a chat").check();
        await dialog(page).getByLabel("URL of the chat").fill(receiver.url);
        await press(dialog(page), "Create notification");
        await page.getByText("Notification saved.").waitFor();
        await page.getByText("Weekly report, UTC").waitFor();
        assert.doesNotMatch(await page.locator("main").innerText(), /secret-part/);
        await act(page, `Chat at ${receiver.host}`, "Send test message");
        await dialog(page).getByText(`Sent to Chat at ${receiver.host}.`).waitFor();
        assert.match(receiver.texts.join(), /notifications arrive/);
      } finally {
        receiver.close();
      }
    },
    "keep a password only with its server and user, and say so at the field": async (page, { api }) => {
      await clear(api);
      await api.put("/mail", server(NOBODY, { user: "anna", password: "correct horse" }));
      await page.show("settings/notifications?edit=mail");
      const password = dialog(page).getByLabel("Password");
      assert.equal(await password.getAttribute("placeholder"), "unchanged");
      await dialog(page).getByLabel("From").fill("other@example.com");
      await press(dialog(page), "Save mail server");
      await page.getByText("other@example.com via").waitFor();
      assert.equal((await api.get("/mail")).has_password, true);

      await press(page, "Change…");
      await dialog(page).getByLabel("User").fill("ben");
      await dialog(page).getByText("Enter it again").waitFor();
      await press(dialog(page), "Save mail server");
      const error = dialog(page).getByRole("alert");
      await error.getByText("Give the password again").waitFor();
      assert.equal(await password.getAttribute("aria-describedby"), await error.getAttribute("id"));
      await password.fill("battery staple");
      await press(dialog(page), "Save mail server");
      await page.getByText("User ben, with a password.").waitFor();
      assert.equal((await api.get("/mail")).user, "ben");
    },
    "offer a group only for alerts about a tag": async (page, { api }) => {
      await clear(api);
      const wine = await api.post("/groups", { name: "Grand Cru", kind: "product" });
      await list(page);
      await press(page, "New notification…");
      await dialog(page).getByText("To limit it to a group").waitFor();
      for (const name of [
        "Disk low",
        "Database failed",
        "Backup failed",
        "Root not backed up",
        "Webhook off",
        "Daily limit of tags",
        "Certificate failed",
      ])
        await dialog(page)
          .getByRole("checkbox", { name: new RegExp(`^${name}`) })
          .uncheck();
      await dialog(page).getByRole("button", { name: "Group: All tags" }).click();
      const choice = page.getByRole("dialog", { name: "Group", exact: true });
      await choice.getByLabel("Find a group").fill("Grand");
      await choice.getByRole("treeitem", { name: /Grand Cru/ }).click();
      await press(choice, "Choose");
      await dialog(page).getByLabel("Mail addresses").fill("anna@example.com");
      await press(dialog(page), "Create notification");
      await page.getByText("Alerts of Grand Cru: guessed codes, copied URL").waitFor();
      const [made] = (await api.get("/notifications")).items;
      assert.deepEqual([made.group_id, made.events], [wine.id, ["alert.inlay_guessed", "alert.copied_url"]]);
    },
    "send only what was changed, and keep what others changed meanwhile": async (page, { api }) => {
      await clear(api);
      const { id } = await api.post("/notifications", alert(["anna@example.com"]));
      await page.show(`settings/notifications?edit=${id}`);
      await dialog(page).getByLabel("Later alerts").selectOption("at most weekly");
      await page.keyboard.press("Escape");
      await dialog(page).waitFor({ state: "hidden" });
      await api.patch(`/notifications/${id}`, { events: ["alert.copied_url"] });
      const sent = [];
      page.on("request", (request) => request.method() === "PATCH" && sent.push(request.postDataJSON()));
      await page.getByText("Alerts: copied URL").waitFor();
      await act(page, "anna@example.com", "Change…");
      assert.equal(await dialog(page).getByLabel("Later alerts").inputValue(), "week");
      await press(dialog(page), "Save notification");
      await page.getByText("Notification saved.").waitFor();
      assert.deepEqual(sent, [{ every: "week" }]);
      const { events, every } = await api.get(`/notifications/${id}`);
      assert.deepEqual([events, every], [["alert.copied_url"], "week"]);
    },
    "keep a new one that was left, and name an address that is refused": async (page, { api }) => {
      await clear(api);
      await list(page);
      await press(page, "New notification…");
      await dialog(page).getByLabel("Mail addresses").fill("anna@example.com\nben@");
      await page.keyboard.press("Escape");
      await dialog(page).waitFor({ state: "hidden" });
      await press(page, "New notification…");
      const mail = dialog(page).getByLabel("Mail addresses");
      assert.equal(await mail.inputValue(), "anna@example.com\nben@");
      await press(dialog(page), "Create notification");
      await dialog(page)
        .getByRole("alert")
        .getByText(/^ben@: .*This is not a mail address/)
        .waitFor();
      assert.equal(await mail.getAttribute("aria-invalid"), "true");
      assert.deepEqual((await api.get("/notifications")).items, []);
    },
    "offer to set up a mail server from a notification that needs one": withMailbox({}, async (page, { api }, box) => {
      await list(page);
      await press(page, "New notification…");
      await dialog(page).getByLabel("Mail addresses").fill("anna@example.com");
      await press(dialog(page), "Set up…");
      const setup = page.getByRole("dialog", { name: "Set up mail server" });
      await setup.getByLabel("Host").fill("127.0.0.1");
      await setup.getByLabel("Security").selectOption("None");
      await setup.getByLabel("Port").fill(String(box.port));
      await setup.getByLabel("From").fill("tapdesk@example.com");
      await press(setup, "Save mail server");
      await setup.waitFor({ state: "hidden" });
      await dialog(page).getByText("There is no mail server yet").waitFor({ state: "hidden" });
      assert.equal(await dialog(page).getByLabel("Mail addresses").inputValue(), "anna@example.com");
      await press(dialog(page), "Create notification");
      await rowOf(page, "anna@example.com").getByText("Nothing sent yet").waitFor();
      assert.equal((await api.get("/mail")).port, box.port);
    }),
    "are turned off, shown with their failures, and deleted": async (page, { api }) => {
      await clear(api);
      const { id } = await api.post("/notifications", alert(["anna@example.com"]));
      // A failure takes a message, which only an alert makes.
      const failures = [
        {
          recipient: "anna@example.com",
          at: new Date().toISOString(),
          error: "The mail server refused the recipient's address: 550 No such user",
          given_up: true,
        },
      ];
      await page.route("**/admin/v1/notifications?*", async (route) => {
        const answer = await route.fetch();
        const body = await answer.json();
        await route.fulfill({ response: answer, json: { ...body, items: body.items.map((one) => ({ ...one, failures })) } });
      });
      await list(page);
      await rowOf(page, "anna@example.com").getByText("No mail server").waitFor();
      await api.put("/mail", server(NOBODY));
      await rowOf(page, "anna@example.com")
        .getByText(/^Failed/)
        .waitFor();
      await act(page, "anna@example.com", "View failures");
      await dialog(page).getByText("550 No such user").waitFor();
      await dialog(page).getByRole("gridcell", { name: "Given up" }).waitFor();
      await press(dialog(page), "Done");
      await act(page, "anna@example.com", "Turn off");
      await rowOf(page, "anna@example.com").getByText("Off", { exact: true }).waitFor();
      assert.equal((await api.get(`/notifications/${id}`)).enabled, false);
      await act(page, "anna@example.com", "Delete…");
      await press(page.getByRole("dialog", { name: "Delete the notification to anna@example.com?" }), "Delete notification");
      await page.getByText("No notifications yet").waitFor();
      assert.deepEqual((await api.get("/notifications")).items, []);
      await page.unrouteAll({ behavior: "ignoreErrors" });
    },
    "lose their mail server only after a question": async (page, { api }) => {
      await clear(api);
      await api.put("/mail", server(NOBODY));
      await list(page);
      await press(page, "Remove…");
      await press(page.getByRole("dialog", { name: "Remove the mail server?" }), "Remove mail server");
      await page.getByText("No mail server yet.").waitFor();
      assert.equal(await api.get("/mail"), null);
    },
  },
});
