/**
 * Consecutive JSON objects, as jq prints and kubectl reads them, lack the `---` that YAML requires between documents. Finds the
 * places for it from the lexemes of a text.
 */
export class JsonStream {
  readonly #isJson: boolean;
  #depth = 0;
  #objects = 0;

  constructor(text: string) {
    this.#isJson = /^\s*\{/.test(text.slice(0, 1000));
  }

  /** True before the first lexeme of an object that directly follows another one. */
  beginsObject(lexeme: string): boolean {
    if (!this.#isJson) return false;
    if (lexeme === '---') this.#objects = 0;
    if (lexeme === '}' || lexeme === ']') this.#depth--;
    if (lexeme !== '{' && lexeme !== '[') return false;
    return this.#depth++ === 0 && lexeme === '{' && this.#objects++ > 0;
  }
}
