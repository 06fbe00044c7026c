/**
 * Finds where `---` has to be inserted between consecutive JSON objects: jq prints them without it and kubectl accepts that, but YAML
 * requires it between documents. Works on the lexemes of a text.
 */
export class JsonStream {
  readonly #isJson: boolean;
  #depth = 0;
  #objects = 0;

  constructor(text: string) {
    this.#isJson = /^\s*\{/.test(text.slice(0, 1000));
  }

  /** Whether the lexeme begins an object that directly follows another one. Lexemes must be passed in order. */
  beginsObject(lexeme: string): boolean {
    if (!this.#isJson) return false;
    if (lexeme === '---') this.#objects = 0;
    if (lexeme === '}' || lexeme === ']') this.#depth--;
    if (lexeme !== '{' && lexeme !== '[') return false;
    return this.#depth++ === 0 && lexeme === '{' && this.#objects++ > 0;
  }
}
