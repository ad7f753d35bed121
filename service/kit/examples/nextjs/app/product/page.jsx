import { cookies } from "next/headers";
import { COOKIE } from "../../lib/key.mjs";
import { tap } from "../../lib/tapdesk.mjs";
import { answerOf, verdictOf } from "../../lib/words.mjs";

/** Rendered on the server for each visitor. Neither the key nor the service's answer reaches a script of the page. */
export default async function Product({ searchParams }) {
  const key = (await cookies()).get(COOKIE)?.value;
  const found = await tap(process.env.TAPDESK_URL, key);
  const { look, title, text } = verdictOf(found);
  const { answer: reason } = await searchParams;
  const answer = answerOf(reason);
  return (
    <main>
      <h1>{found.tag ? found.tag.title || found.tag.name : "Your product"}</h1>
      <section className={`state ${look}`} role="status">
        <h2>{title}</h2>
        <p>{text}</p>
        {found.reason === "unreachable" && <a href="/product">Try again</a>}
      </section>
      {answer && <p role="status">{answer}</p>}
      {found.verified === true && reason !== "saved" && (
        <form method="post" action="/register">
          <h2>Register your product</h2>
          <label>
            Your name <input name="owner" autoComplete="name" maxLength={200} required />
          </label>
          <button>Register</button>
        </form>
      )}
    </main>
  );
}
