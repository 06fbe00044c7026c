/** Label selectors of list, watch and deletecollection requests, with upstream's error messages (apimachinery, labels/selector.go). */
import { labelValueProblems, qualifiedNameProblems } from '@podwright/kube-kinds';
import { badRequest } from '../status/api-error.ts';
import { isInteger, type LabelOperator, type LabelRequirement } from './label-requirements.ts';
import { type LabelToken, labelTokens } from './label-tokens.ts';

/** Parses a label selector. An empty selector has no requirements. Throws `ApiError`. */
export function parseLabelSelector(selector: string): LabelRequirement[] {
  return new LabelParser(labelTokens(selector)).parse();
}

const OPERATORS: Readonly<Record<string, LabelOperator>> = {
  in: 'in',
  notin: 'notin',
  '=': 'in',
  '==': 'in',
  '!=': 'notin',
  '>': '>',
  '<': '<',
};

class LabelParser {
  readonly #tokens: readonly LabelToken[];
  #position = 0;

  constructor(tokens: readonly LabelToken[]) {
    this.#tokens = tokens;
  }

  parse(): LabelRequirement[] {
    const requirements: LabelRequirement[] = [];
    while (this.#next().kind !== 'end') {
      if (this.#next().kind !== 'word' && this.#next().text !== '!')
        throw this.#unexpected("!, identifier, or 'end of string'");
      requirements.push(this.#requirement());
      if (this.#next().kind === 'end') break;
      if (this.#next().text !== ',') throw this.#unexpected("',' or 'end of string'");
      this.#take();
      if (this.#next().kind !== 'word' && this.#next().text !== '!') throw this.#unexpected("identifier after ','");
    }
    return requirements;
  }

  #requirement(): LabelRequirement {
    try {
      return this.#readRequirement();
    } catch (error) {
      throw error instanceof SyntaxError ? badRequest(`unable to parse requirement: ${error.message}`) : error;
    }
  }

  #readRequirement(): LabelRequirement {
    const isNegated = this.#next().text === '!';
    if (isNegated) this.#take();
    if (this.#next().kind !== 'word') throw this.#wrong(`found '${this.#next().text}', expected: identifier`);
    const key = this.#take().text;
    check('<nil>', key, qualifiedNameProblems(key));
    if (isNegated || this.#next().kind === 'end' || this.#next().text === ',')
      return { key, operator: isNegated ? '!' : 'exists', values: [] };
    const { text } = this.#take();
    const operator = Object.hasOwn(OPERATORS, text) ? OPERATORS[text]! : undefined;
    if (operator === undefined) throw this.#wrong(`found '${text}', expected: in, notin, =, ==, !=, gt, lt`);
    const values = text === 'in' || text === 'notin' ? this.#values() : [this.#exactValue()];
    checkValues(key, operator, values);
    return { key, operator, values };
  }

  /** Parses the values in parentheses. Missing values, including an empty list, are read as ''. */
  #values(): string[] {
    if (this.#next().text !== '(') throw this.#wrong(`found '${this.#next().text}' expected: '('`);
    this.#take();
    const values = new Set<string>();
    for (let isAfterValue = false; ; ) {
      const token = this.#take();
      if (token.kind === 'word' && !isAfterValue) {
        values.add(token.text);
        isAfterValue = true;
      } else if (token.text === ',' || token.text === ')') {
        if (!isAfterValue) values.add('');
        if (token.text === ')') return [...values];
        isAfterValue = false;
      } else
        throw this.#wrong(`found '${token.text}', expected: ${isAfterValue ? "',' or ')'" : "',', ')' or identifier"}`);
    }
  }

  #exactValue(): string {
    if (this.#next().kind === 'end' || this.#next().text === ',') return '';
    const token = this.#take();
    if (token.kind !== 'word') throw this.#wrong(`found '${token.text}', expected: identifier`);
    return token.text;
  }

  #next(): LabelToken {
    return this.#tokens[this.#position] ?? this.#tokens.at(-1)!;
  }

  #take(): LabelToken {
    const token = this.#next();
    this.#position += 1;
    return token;
  }

  #unexpected(expected: string) {
    return badRequest(`found '${this.#next().text}', expected: ${expected}`);
  }

  #wrong(message: string): SyntaxError {
    return new SyntaxError(message);
  }
}

function checkValues(key: string, operator: LabelOperator, values: readonly string[]): void {
  for (const [index, value] of values.entries()) {
    const isNumber = operator !== '>' && operator !== '<' ? true : isInteger(value);
    if (!isNumber) check(`values[${index}]`, value, ["for 'Gt', 'Lt' operators, the value must be an integer"]);
    check(`values[${index}][${key}]`, value, labelValueProblems(value));
  }
}

/** Throws a `SyntaxError` with upstream's message if a key or value of the selector has problems. */
function check(field: string, value: string, problems: readonly string[]): void {
  if (problems.length > 0)
    throw new SyntaxError(`${field}: Invalid value: ${JSON.stringify(value)}: ${problems.join('; ')}`);
}
