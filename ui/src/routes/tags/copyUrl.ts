import type { Tag } from "../../lib/api/types";
import { attempt, notices } from "../../lib/window/notices.svelte";
import { settings } from "../../lib/stores/settings";

/** Puts the URL of a tag on the clipboard. */
export const copyUrl = (tag: Tag) =>
  attempt(async () => {
    const { tag_url } = await settings.load();
    await navigator.clipboard.writeText(`${tag_url.value}/${tag.slug}`);
    notices.done(`Copied the URL of ${tag.name}.`);
  });
