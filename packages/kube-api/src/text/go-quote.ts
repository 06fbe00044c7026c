const NAMED: Record<string, string> = {
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
};

/** Characters that Go escapes: quotes, backslashes, and everything outside the classes of `strconv.IsPrint`. */
const SPECIAL = /["\\]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu;

/** Quotes a string like Go's `strconv.Quote` and the verb `%q`. */
export function goQuote(text: string): string {
  return `"${text.replace(SPECIAL, (char) => NAMED[char] ?? escaped(char.codePointAt(0)!))}"`;
}

function escaped(code: number): string {
  const hex = code.toString(16);
  if (code < 0x80) return `\\x${hex.padStart(2, '0')}`;
  return code < 0x10000 ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
}
