/**
 * Finds where to insert `---` between consecutive JSON objects: jq does not print it and kubectl does not need it, but YAML requires it
 * between documents. Works on lexemes.
 */
export class JsonStream {
  readonly #isJson: boolean;
  #depth = 0;
  #objects = 0;

  constructor(text: string) {
    this.#isJson = /^\s*\{/.test(text.slice(0, 1000));
  }

  /** Whether the lexeme starts an object directly following another one. Must be called for each lexeme in order. */
  beginsObject(lexeme: string): boolean {
    if (!this.#isJson) return false;
    if (lexeme === '---') this.#objects = 0;
    if (lexeme === '}' || lexeme === ']') this.#depth--;
    if (lexeme !== '{' && lexeme !== '[') return false;
    return this.#depth++ === 0 && lexeme === '{' && this.#objects++ > 0;
  }
}
