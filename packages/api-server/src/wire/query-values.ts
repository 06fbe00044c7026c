import { badRequest } from '@podwright/api-machinery';

/** Reads query parameters the way Go converts URL values: only the first value of each parameter counts. */
export class QueryValues {
  readonly #query: URLSearchParams;

  constructor(query: URLSearchParams) {
    this.#query = query;
  }

  text(name: string): string {
    return this.#query.get(name) ?? '';
  }

  texts(name: string): string[] {
    return this.#query.getAll(name);
  }

  /** Returns undefined if the parameter is absent. Any value other than `false` and `0` is true, even an empty one. */
  flag(name: string): boolean | undefined {
    const value = this.#query.get(name);
    return value === null ? undefined : value !== '0' && value.toLowerCase() !== 'false';
  }

  /** Returns a parameter as an int64, or undefined if it is absent. Throws 400 if it is not an integer. */
  integer(name: string): number | undefined {
    const value = this.#query.get(name);
    if (value === null) return undefined;
    const fails = (why: string) => badRequest(`strconv.ParseInt: parsing ${JSON.stringify(value)}: ${why}`);
    if (!/^[+-]?\d+$/.test(value)) throw fails('invalid syntax');
    if (BigInt.asIntN(64, BigInt(value)) !== BigInt(value)) throw fails('value out of range');
    return Number(value);
  }
}
