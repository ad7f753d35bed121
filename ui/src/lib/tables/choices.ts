// The columns that an import supports, in groups, with names for owners.

export interface Choice {
  /** The column of the API. */
  value: string;
  name: string;
  /** More details: its values, or the place where it is shown. */
  about: string;
}

export interface ChoiceGroup {
  title: string;
  choices: Choice[];
}

const choice = (value: string, name: string, about: string): Choice => ({ value, name, about });

/** The property for serial numbers. */
export const SERIAL = "attribute:serial_number";

export const groups: ChoiceGroup[] = [
  {
    title: "The tag",
    choices: [
      choice("name", "Name", "Your own name for the thing. Each new tag needs one."),
      choice("title", "Title", "The name that visitors see, if it is another one."),
      choice("description", "Description", "A text that visitors can see."),
      choice("slug", "Slug", "The end of the tag URL. Without this column, each tag gets a random one."),
      choice("language_code", "Language", "Two letters, for example en or de."),
      choice("status", "Status", "active or archived."),
    ],
  },
  {
    title: "The thing",
    choices: [
      choice(SERIAL, "Serial number", "Identifies the thing. Only you can change it."),
      choice("location", "Place", "JSON with latitude and longitude."),
      choice("group", "Group, by its path", "The product or batch of the tag, for example Wines / Grand Cru 2021 / L03."),
      choice("group_id", "Group, by number", "The number of the group in Tapdesk."),
    ],
  },
  {
    title: "When the tag is tapped",
    choices: [
      choice("experience", "Experience, by name", "The experience that a tap opens. Its name has to be the same."),
      choice("experience_id", "Experience, by number", "The number of the experience in Tapdesk."),
      choice("verifier_enabled", "Check taps", "true or false: whether codes of taps are verified."),
      choice("updates_require_verified", "Changes need a verified tap", "true or false."),
      choice("has_qr_code", "Has a QR code", "true or false: whether a code of the tag is printed."),
      choice("track_location", "Ask for the place of taps", "true or false."),
      choice("widget_settings", "Widget settings", "JSON, for a page of your own."),
    ],
  },
  {
    title: "The chip",
    choices: [
      choice("uid", "UID of the chip", "The number that the factory gave the chip: 14 digits, for example 04A1B2C3D4E5F0."),
      choice("technology", "Kind of chip", "For example NTAG 424 DNA or NTAG213."),
      choice("last_counter", "Last counter", "The counter of the last tap that was accepted."),
      choice("template", "URL template, by its text", "The form of the URLs that the chip sends."),
      choice("url_template_id", "URL template, by number", "The number of the URL template in Tapdesk."),
      choice("mode", "Encryption", "aes or lrp."),
      choice("mirror", "Codes in the URL", "plain, encrypted, or none for no codes."),
      choice("mac_from", "Start of the code", "The part of the URL that the code is computed from."),
    ],
  },
  {
    title: "Keys of the chip",
    choices: [
      choice("meta_key", "Meta key", "Decrypts UID and counter. In hexadecimal digits."),
      choice("file_key", "File key", "Verifies taps. In hexadecimal digits."),
      choice("key_0", "Key 0", "With it the chip can be encoded again. In hexadecimal digits."),
      choice("key_3", "Key 3", "In hexadecimal digits. Empty if the chip has its factory key."),
      choice("key_4", "Key 4", "In hexadecimal digits. Empty if the chip has its factory key."),
      choice("master_key_id", "Master key, by number", "The number of the master key that the chip's keys follow from."),
    ],
  },
];

/** The name of a property for a column with this heading. */
export const propertyOf = (heading: string) =>
  heading
    .trim()
    .replaceAll(/[^A-Za-z0-9_.-]+/g, "_")
    .slice(0, 64) || "value";

const classes: [string, (key: string) => string, string][] = [
  ["attribute", (key) => `“${key}”, identifies the thing`, "Only you can change it. For numbers and codes of the thing."],
  ["data", (key) => `“${key}”, describes the thing`, "Only you can change it. For example a colour, or the URL of a manual."],
  ["variable", (key) => `“${key}”, visitors can change it`, "Visitors can change it once per tap, for example by a form."],
];

const known = new Map(groups.flatMap(({ choices }) => choices).map((one) => [one.value, one]));

/** The choices of a property with this key, without those that have a fixed name. */
export const ownChoices = (key: string): Choice[] =>
  classes.map(([kind, name, about]) => choice(`${kind}:${key}`, name(key), about)).filter(({ value }) => !known.has(value));

/** The choice of a column, including properties that are not suggested for its heading. */
export function choiceOf(value: string): Choice | null {
  const [, kind, key = ""] = /^(\w+):(.*)$/.exec(value) ?? [];
  const found = classes.find(([one]) => one === kind);
  return known.get(value) ?? (found ? choice(value, found[1](key), found[2]) : null);
}
