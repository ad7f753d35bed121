// A URL for a picture of the service whose request needs a token: it is shown from its bytes. Another picture has the same
// address, under which the web view would keep the former one.

import { attempt } from "../window/notices.svelte";

/** Loads a picture, and calls `show` with its URL. The returned function makes the URL invalid, and shows none. */
export function showPicture(load: () => Promise<ArrayBuffer>, type: string, show: (url: string | null) => void): () => void {
  let [left, made] = [false, ""];
  void attempt(load).then((bytes) => {
    if (!bytes || left) return;
    made = URL.createObjectURL(new Blob([bytes], { type }));
    show(made);
  });
  return () => {
    left = true;
    show(null);
    URL.revokeObjectURL(made);
  };
}
