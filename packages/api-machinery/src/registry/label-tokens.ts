/** Tokens of label selectors, as defined by upstream's lexer (apimachinery, labels/selector.go). */

export type LabelToken = {
  /** `word` for keys, values, `in` and `notin`; `end` marks the end of the selector. */
  kind: 'word' | 'symbol' | 'end';
  text: string;
};

const SYMBOLS = ['!=', '==', '!', '=', '(', ')', ',', '>', '<'];
const SPACE = /\s/;

/** Splits a label selector into tokens. The last token is always `end`. */
export function labelTokens(selector: string): LabelToken[] {
  const tokens: LabelToken[] = [];
  let position = 0;
  while (position < selector.length) {
    const symbol = SYMBOLS.find((one) => selector.startsWith(one, position));
    if (SPACE.test(selector[position]!)) position += 1;
    else if (symbol !== undefined) {
      tokens.push({ kind: 'symbol', text: symbol });
      position += symbol.length;
    } else {
      const text = wordAt(selector, position);
      tokens.push({ kind: 'word', text });
      position += text.length;
    }
  }
  return [...tokens, { kind: 'end', text: '' }];
}

function wordAt(selector: string, begin: number): string {
  let end = begin;
  while (end < selector.length && !/[\s!=(),<>]/.test(selector[end]!)) end += 1;
  return selector.slice(begin, end);
}
