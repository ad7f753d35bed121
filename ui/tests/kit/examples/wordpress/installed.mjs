// WordPress of the system's package, in a folder of its own: with a MariaDB that has a socket only, and PHP's own server.

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "@playwright/test";
import { PATIENCE } from "../../../screens/browser.mjs";
import { freePort } from "../../ports.mjs";
import { start } from "../running.mjs";

const run = promisify(execFile);
const SOURCE = "/usr/share/wordpress";
const ADMINISTRATOR = { name: "anna", password: "a password only for tests" };

/** A database server without a port and without passwords; its socket. */
async function mariadb(folder) {
  const data = join(folder, "database");
  const socket = join(folder, "mariadb.sock");
  // It refuses to run as root without this.
  const user = process.getuid() === 0 ? ["--user=root"] : [];
  await run("mariadb-install-db", [
    "--no-defaults",
    `--datadir=${data}`,
    "--auth-root-authentication-method=normal",
    "--skip-test-db",
    ...user,
  ]);
  const options = [
    "--no-defaults",
    `--datadir=${data}`,
    `--socket=${socket}`,
    "--skip-networking",
    `--pid-file=${folder}/mariadb.pid`,
    ...user,
  ];
  // Debian has it where only root looks for programs.
  const server = spawn("/usr/sbin/mariadbd", options, { stdio: ["ignore", "ignore", "ignore"] });
  const ended = new Promise((exited) => server.once("exit", exited));
  await expect.poll(() => existsSync(socket), { timeout: PATIENCE }).toBe(true);
  return {
    socket,
    async stop() {
      if (server.kill()) await ended;
    },
  };
}

const config = (socket, url) => `<?php
define('DB_NAME', 'wordpress');
define('DB_USER', 'root');
define('DB_PASSWORD', '');
define('DB_HOST', 'localhost:${socket}');
define('DB_CHARSET', 'utf8mb4');
define('WP_HOME', '${url}');
define('WP_SITEURL', '${url}');
define('WP_DEBUG', true);
define('WP_DEBUG_DISPLAY', false);
define('WP_DEBUG_LOG', __DIR__ . '/debug.log');
define('WP_HTTP_BLOCK_EXTERNAL', true);
define('DISABLE_WP_CRON', true);
define('AUTH_KEY', 'only for tests');
define('NONCE_SALT', 'only for tests, too');
$table_prefix = 'wp_';
defined('ABSPATH') || define('ABSPATH', __DIR__ . '/');
require ABSPATH . 'wp-settings.php';
`;

/** The steps of a first start, without its mail, and a page with the shortcode. It prints the page's id. */
const INSTALL = `<?php
define('WP_INSTALLING', true);
function wp_new_blog_notification() {}
require __DIR__ . '/wp-load.php';
require ABSPATH . 'wp-admin/includes/upgrade.php';
wp_install('A blog', '${ADMINISTRATOR.name}', 'anna@example.com', false, '', '${ADMINISTRATOR.password}');
switch_theme('plain');
echo wp_insert_post(['post_type' => 'page', 'post_status' => 'publish', 'post_title' => 'Our product', 'post_content' => '[tapdesk]']);
`;

const THEME = {
  "style.css": "/*\nTheme Name: Plain\n*/\n",
  "index.php": `<!doctype html><html <?php language_attributes(); ?>><head><meta charset="utf-8"><title>A blog</title><?php wp_head(); ?></head>
<body><main><?php while (have_posts()) { the_post(); the_title('<h1>', '</h1>'); the_content(); } ?></main><?php wp_footer(); ?></body></html>`,
};

async function unpack(folder, { plugin, socket, url }) {
  const root = join(folder, "wordpress");
  await cp(SOURCE, root, { recursive: true, verbatimSymlinks: true });
  await writeFile(join(root, "wp-config.php"), config(socket, url));
  await writeFile(join(root, "install-for-tests.php"), INSTALL);
  await mkdir(join(root, "wp-content/themes/plain"), { recursive: true });
  for (const [name, text] of Object.entries(THEME)) await writeFile(join(root, "wp-content/themes/plain", name), text);
  await cp(plugin, join(root, "wp-content/plugins/tapdesk"), { recursive: true });
  return root;
}

/** The administrator activates the plugin and enters the address of the service; nobody else can. */
async function setUp(browser, url, service) {
  const page = await browser.newPage();
  page.setDefaultTimeout(PATIENCE);
  const settings = `${url}/wp-admin/options-general.php?page=tapdesk`;
  try {
    await page.goto(`${url}/wp-login.php`);
    await page.fill("#user_login", ADMINISTRATOR.name);
    await page.fill("#user_pass", ADMINISTRATOR.password);
    await page.click("#wp-submit");
    await page.waitForURL(/wp-admin/);
    await page.goto(`${url}/wp-admin/plugins.php`);
    await page.locator("tr[data-slug=tapdesk]").getByRole("link", { name: "Activate" }).click();
    await page.getByText("Plugin activated.").waitFor();

    await page.goto(settings);
    const address = page.getByLabel("Address of the service");
    await address.fill("https://tags.example.com/t");
    await page.getByRole("button", { name: "Save Changes" }).click();
    await page.getByText("Enter scheme and host of your tag URL").waitFor();
    await address.fill(`${service}/`);
    await page.getByRole("button", { name: "Save Changes" }).click();
    await page.getByText("Settings saved.").waitFor();
    assert.equal(await address.inputValue(), service);

    // Without the nonce of the settings page, the administrator's own browser changes nothing.
    const forged = { form: { option_page: "tapdesk", action: "update", tapdesk_service: "https://evil.example" } };
    assert.equal((await page.request.post(`${url}/wp-admin/options.php`, forged)).status(), 403);
    await page.context().clearCookies();
    await page.goto(settings);
    await page.locator("#user_login").waitFor();
  } finally {
    await page.context().close();
  }
}

/** Installs WordPress with the plugin; `page` has the shortcode, `log` is the text of its log. */
export async function wordpress(browser, { plugin, service }) {
  assert.ok(existsSync(SOURCE), "WordPress is missing; see .make/setup");
  const folder = await mkdtemp(join(tmpdir(), "tapdesk-wordpress-"));
  const running = [];
  const close = async () => {
    for (const one of running.reverse()) await one.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const database = await mariadb(folder);
    running.push(database);
    await run("mariadb", ["--no-defaults", `--socket=${database.socket}`, "--user=root", "--execute=CREATE DATABASE wordpress"]);
    const port = await freePort();
    const url = `http://localhost:${port}`;
    const root = await unpack(folder, { plugin, socket: database.socket, url });
    const { stdout: id } = await run("php", [join(root, "install-for-tests.php")]);
    assert.match(id, /^\d+$/);
    const env = { PHP_CLI_SERVER_WORKERS: "4" };
    running.push(await start("php", ["-S", `localhost:${port}`, "-t", root], { url, cwd: root, env }));
    await setUp(browser, url, service);
    const log = () => readFile(join(root, "debug.log"), "utf8").catch(() => "");
    return { page: `${url}/?page_id=${id}`, log, close };
  } catch (error) {
    await close();
    throw error;
  }
}
