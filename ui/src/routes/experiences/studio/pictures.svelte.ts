// The images of an experience, which blocks and the theme use.

import { get, upload } from "../../../lib/api/client";
import type { Image } from "../../../lib/api/types";
import { shell } from "../../../lib/shell/shell.svelte";

export class Pictures {
  shown = $state.raw<Image[]>([]);

  constructor(readonly experience: number) {}

  async load(): Promise<void> {
    this.shown = (await get("/experiences/{id}/images", { id: this.experience, limit: 500 })).items;
  }

  /** Uploads an image; returns its id. */
  async add(file: File): Promise<number> {
    const image = await upload("/experiences/{id}/images", await file.arrayBuffer(), "application/octet-stream", { id: this.experience });
    await this.load();
    return image.id;
  }

  address(image: number): string {
    return `${shell.base}/admin/v1/experiences/${this.experience}/images/${image}`;
  }
}
