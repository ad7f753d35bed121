// The icons of the sections of the settings.

import Archive from "@lucide/svelte/icons/archive";
import Bell from "@lucide/svelte/icons/bell";
import Info from "@lucide/svelte/icons/info";
import KeyRound from "@lucide/svelte/icons/key-round";
import Monitor from "@lucide/svelte/icons/monitor";
import Palette from "@lucide/svelte/icons/palette";
import PanelsTopLeft from "@lucide/svelte/icons/panels-top-left";
import ScrollText from "@lucide/svelte/icons/scroll-text";
import Server from "@lucide/svelte/icons/server";
import Smartphone from "@lucide/svelte/icons/smartphone";
import Ticket from "@lucide/svelte/icons/ticket";
import Unplug from "@lucide/svelte/icons/unplug";
import Webhook from "@lucide/svelte/icons/webhook";
import type { parts } from "./parts";

export const icons: Record<(typeof parts)[number][0], typeof Archive> = {
  service: Server,
  visitors: PanelsTopLeft,
  backup: Archive,
  webhooks: Webhook,
  notifications: Bell,
  tokens: Ticket,
  phones: Smartphone,
  keys: KeyRound,
  audit: ScrollText,
  connections: Unplug,
  kiosk: Monitor,
  appearance: Palette,
  about: Info,
};
