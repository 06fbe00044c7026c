import { isRecord, PodwrightError } from '@podwright/base';

/** Fields whose values are never quoted in errors. */
const SECRET = new Set(['token', 'password']);

/** Reads typed fields from a section of a document. Errors name the file and the field. Null fields are treated as unset. */
export class Fields {
  readonly #values: Record<string, unknown>;
  readonly #file: string;
  /** The section's location in the document, such as `users "admin"`; '' for the whole document. */
  readonly #place: string;

  constructor(value: unknown, file: string, place = '') {
    this.#file = file;
    this.#place = place;
    if (!isRecord(value)) throw this.error(undefined, `${kindOf(value)} where fields belong`);
    this.#values = value;
  }

  text(name: string): string | undefined {
    const value = this.#value(name);
    if (value === undefined || value === '') return undefined;
    const shown = SECRET.has(name) ? typeof value : kindOf(value);
    if (typeof value !== 'string') throw this.error(name, `${shown} where text belongs; put it in quotes`);
    return value;
  }

  requiredText(name: string): string {
    const value = this.text(name);
    if (value === undefined) throw this.error(name, 'it is missing');
    return value;
  }

  flag(name: string): boolean {
    const value = this.#value(name) ?? false;
    if (typeof value !== 'boolean') throw this.error(name, `${kindOf(value)} where true or false belongs`);
    return value;
  }

  texts(name: string): string[] {
    return this.#list(name).map((value) => {
      if (typeof value !== 'string') throw this.error(name, `${kindOf(value)} in a list of texts; put it in quotes`);
      return value;
    });
  }

  /** Returns the decoded bytes of a base64-encoded field. */
  data(name: string): Buffer | undefined {
    const text = this.text(name)?.replace(/[\r\n]/g, '');
    if (text === undefined) return undefined;
    const isBase64 = text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
    if (!isBase64) throw this.error(name, 'it is not base64; `base64 -w0 FILE` encodes a file');
    return Buffer.from(text, 'base64');
  }

  has(name: string): boolean {
    return this.#value(name) !== undefined;
  }

  /** Returns the field's value without checking its type. */
  raw(name: string): unknown {
    return this.#value(name);
  }

  part(name: string): Fields | undefined {
    const value = this.#value(name);
    return value === undefined ? undefined : new Fields(value, this.#file, this.#below(name));
  }

  /** Returns a list of sections, such as `users`. Errors identify each section by its name. */
  parts(name: string): Fields[] {
    return this.#list(name).map((value, index) => {
      const { name: own } = (value ?? {}) as { name?: unknown };
      const shown = typeof own === 'string' && own !== '' ? JSON.stringify(own) : `${index}`;
      return new Fields(value, this.#file, this.#below(`${name}[${shown}]`));
    });
  }

  error(name: string | undefined, problem: string): PodwrightError {
    const place = name === undefined ? this.#place : this.#below(name);
    return new PodwrightError('invalid_argument', `${this.#file}: ${place === '' ? '' : `${place}: `}${problem}`);
  }

  #value(name: string): unknown {
    return Object.hasOwn(this.#values, name) ? (this.#values[name] ?? undefined) : undefined;
  }

  #list(name: string): unknown[] {
    const value = this.#value(name) ?? [];
    if (!Array.isArray(value)) throw this.error(name, `${kindOf(value)} where a list belongs`);
    return value;
  }

  #below(name: string): string {
    return this.#place === '' ? name : `${this.#place}.${name}`;
  }
}

function kindOf(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'fields';
  return typeof value === 'string' ? 'text' : `the ${typeof value} ${value}`;
}
