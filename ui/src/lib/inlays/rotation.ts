// Progress of the rotation of the wrapping key, as text.

import type { RotationProgress } from "../shell/desktop";
import { count } from "../format/format";

const phases = {
  checking: "Checking that every secret opens",
  wrapping: "Encrypting secrets with the new key",
  erasing: "Removing data encrypted with the former key",
};

/** Its progress, as in "Encrypting secrets with the new key: 200 of 1,204". */
export function rotationWords({ phase, done, total }: RotationProgress): string {
  return total > 0 ? `${phases[phase]}: ${count(done)} of ${count(total)}` : `${phases[phase]}…`;
}
