/** The lexer's marker before the text of a plain or block scalar. */
const SCALAR_FOLLOWS = '\x1f';

/**
 * In double quotes go-yaml, and so Kubernetes, accepts `\'`, which the library refuses. Replaces it by `\x27` before the parser.
 */
export class QuoteEscapes {
  #isText = false;

  /** A lexeme that the library accepts, and the number of added characters. */
  mend(lexeme: string): { lexeme: string; grownBy: number } {
    const isText = this.#isText;
    this.#isText = lexeme === SCALAR_FOLLOWS;
    if (isText || !lexeme.startsWith('"') || !lexeme.includes("\\'")) return { lexeme, grownBy: 0 };
    const mended = lexeme.replaceAll(/\\[\s\S]/g, (pair) => (pair === "\\'" ? '\\x27' : pair));
    return { lexeme: mended, grownBy: mended.length - lexeme.length };
  }
}
