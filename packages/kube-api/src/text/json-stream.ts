/**
 * JSON objects one behind the other, as jq prints them and kubectl reads them, have no `---` between them, which YAML needs. Tells
 * from the lexemes of a text where one is to be put.
 */
export class JsonStream {
  readonly #isJson: boolean;
  #depth = 0;
  #objects = 0;

  constructor(text: string) {
    this.#isJson = /^\s*\{/.test(text.slice(0, 1000));
  }

  /** True before the first lexeme of an object right behind another. */
  beginsObject(lexeme: string): boolean {
    if (!this.#isJson) return false;
    if (lexeme === '---') this.#objects = 0;
    if (lexeme === '}' || lexeme === ']') this.#depth--;
    if (lexeme !== '{' && lexeme !== '[') return false;
    return this.#depth++ === 0 && lexeme === '{' && this.#objects++ > 0;
  }
}
