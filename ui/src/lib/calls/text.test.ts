import { expect, test } from "vitest";
import { javascriptText, phpText, pythonText, shellWord } from "./text";

const HOSTILE = `a'b"c\\d$e\${f}\`g\`\nh</script>é\u2028`;

test("a word of the shell is one word, whatever is in it", () => {
  expect(shellWord("plain")).toBe("'plain'");
  expect(shellWord("")).toBe("''");
  expect(shellWord("it's")).toBe(`'it'\\''s'`);
  expect(shellWord("rk=", { variable: "RK" })).toBe(`'rk='"$RK"`);
  expect(shellWord(HOSTILE)).toBe(`'a'\\''b"c\\d$e\${f}\`g\`\nh</script>é\u2028'`);
});

test("a string of JavaScript ends no script", () => {
  expect(javascriptText(HOSTILE)).toBe(String.raw`"a'b\"c\\d$e${"${f}"}${"`g`"}\nh\u003c/script>é\u2028"`);
  expect(JSON.parse(javascriptText(HOSTILE))).toBe(HOSTILE);
  expect(javascriptText("<!--")).toBe(String.raw`"\u003c!--"`);
});

test("a string of Python", () => {
  expect(pythonText(HOSTILE)).toBe(`"a'b\\"c\\\\d$e\${f}\`g\`\\nh</script>é\u2028"`);
  expect(pythonText("\0\x7f")).toBe(String.raw`"\u0000\x7f"`);
});

test("a string of PHP has double quotes for control characters only", () => {
  expect(phpText(`a'b"c\\d$e`)).toBe(String.raw`'a\'b"c\\d$e'`);
  expect(phpText(HOSTILE)).toBe(`"a'b\\"c\\\\d\\$e\\\${f}\`g\`\\nh</script>é\u2028"`);
  expect(phpText("\0\r\t\x7f")).toBe(String.raw`"\x00\r\t\x7f"`);
  expect(phpText("?>")).toBe("'?>'");
});
