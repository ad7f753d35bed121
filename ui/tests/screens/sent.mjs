// Forms that visitors sent: the data of the screens of submissions.

const fields = [
  { label: "Your name", kind: "text", variable: "name", required: true },
  { label: "Email", kind: "email", variable: "email" },
  { label: "What happened?", kind: "multiline", variable: "message" },
  { label: "You may write to me about my warranty.", kind: "consent", variable: "agreed" },
];
const people = [
  ["Ada Lovelace", "ada@example.com", "The cork was loose.\nThe rest is fine.", true],
  ["Grace Hopper", "grace@example.com", "", true],
  ["Jürgen Müller-Lüdenscheidt von und zu Hohenstein", "juergen@example.com", "Sehr schön.", false],
  ["Joan", "", "x".repeat(300), true],
];

/** A tag whose page has a form, and what was sent with it; made once for each service. */
const made = new WeakMap();
export function sent(api) {
  if (!made.has(api)) made.set(api, send(api));
  return made.get(api);
}

async function send(api) {
  const blocks = [
    { type: "heading", text: "Register" },
    { type: "form", fields, submit_label: "Register" },
  ];
  const experience = await api.post("/experiences", { name: "Warranty card", kind: "studio", blocks });
  const variables = { name: "", email: "", message: "", agreed: "false" };
  const tag = await api.post("/tags", { name: "Guitar with a warranty", experience_id: experience.id, variables });
  for (const [name, email, message, agreed] of people) {
    const rk = await api.form(tag.slug);
    const status = await api.update(rk, { name, email, message, agreed: String(agreed) });
    if (status !== 200) throw new Error(`a form was answered ${status}`);
  }
  const { items } = await api.get("/submissions");
  return { experience, tag, items };
}
