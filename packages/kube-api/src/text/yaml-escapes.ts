/** What the lexer yields before the text of a plain or block scalar. */
const SCALAR_FOLLOWS = '\x1f';

/**
 * `\'` in double quotes is `'` for go-yaml, and so for Kubernetes; the library refuses it. It is written as `\x27` before the
 * parser sees it.
 */
export class QuoteEscapes {
  #isText = false;

  /** A lexeme as the library understands it, and how much longer it is now. */
  mend(lexeme: string): { lexeme: string; grownBy: number } {
    const isText = this.#isText;
    this.#isText = lexeme === SCALAR_FOLLOWS;
    if (isText || !lexeme.startsWith('"') || !lexeme.includes("\\'")) return { lexeme, grownBy: 0 };
    const mended = lexeme.replaceAll(/\\[\s\S]/g, (pair) => (pair === "\\'" ? '\\x27' : pair));
    return { lexeme: mended, grownBy: mended.length - lexeme.length };
  }
}
