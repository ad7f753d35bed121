// The images of an experience, which blocks and the theme use.

import { cached } from "../../../lib/api/cache";
import { upload } from "../../../lib/api/client";
import type { Image } from "../../../lib/api/types";
import { shell } from "../../../lib/shell/shell.svelte";

export class Pictures {
  constructor(readonly experience: number) {}

  /** The images with the state of their load. */
  get stored() {
    return cached("/experiences/{id}/images", { id: this.experience, limit: 500 });
  }

  get shown(): readonly Image[] {
    return this.stored.now?.items ?? [];
  }

  /** Uploads an image; returns its id. */
  async add(file: File): Promise<number> {
    const image = await upload("/experiences/{id}/images", await file.arrayBuffer(), "application/octet-stream", { id: this.experience });
    await this.stored.load();
    return image.id;
  }

  address(image: number): string {
    return `${shell.base}/admin/v1/experiences/${this.experience}/images/${image}`;
  }
}
