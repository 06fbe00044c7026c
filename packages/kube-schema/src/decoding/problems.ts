/** Problems of a JSON object, with the texts and in the order of upstream's decoder (sigs.k8s.io/json). */
import { PodwrightError } from '@podwright/base';

/** Upstream's decoder reports no more than this. */
const MAX_PROBLEMS = 100;

/** Field names and list indexes, starting at an object's root. */
export type JsonPath = readonly (string | number)[];

/** Formats a path like `spec.containers[0].name`; names are not quoted. */
export function formatPath(path: JsonPath): string {
  return path.reduce<string>(
    (text, step) => (typeof step === 'number' ? `${text}[${step}]` : text === '' ? step : `${text}.${step}`),
    '',
  );
}

/** The decoder's position: the path, and the names for type errors. */
export type Context = {
  path: JsonPath;
  /** The struct that contains the last field, without its package; '' at the root. */
  struct: string;
  /** The field names from the root, without list indexes and map keys. */
  fields: string;
};

/** Collects the problems of one object. */
export class Problems {
  readonly #duplicates: ReadonlySet<string>;
  readonly #strict = new Set<string>();
  #firstError: string | undefined;

  /** `duplicates`: paths of fields that the source text contains more than once. A parsed JSON value no longer shows them. */
  constructor(duplicates: readonly JsonPath[]) {
    this.#duplicates = new Set(duplicates.map(formatPath));
  }

  /** The problems for strict validation, such as `unknown field "spec.foo"`. */
  get strict(): string[] {
    return [...this.#strict];
  }

  unknownField(path: JsonPath): void {
    this.#add(`unknown field ${quoted(formatPath(path))}`);
  }

  /** Reports the field if the source text contains it more than once. */
  knownField(path: JsonPath): void {
    if (this.#duplicates.size === 0) return;
    const text = formatPath(path);
    if (this.#duplicates.has(text)) this.#add(`duplicate field ${quoted(text)}`);
  }

  /** Reports a value of the wrong type. Decoding continues; `check` throws the first such error. */
  wrongType(value: unknown, goType: string, context: Context): void {
    this.error(wrongTypeText(kindOf(value), goType, context));
  }

  /** Reports a number that does not fit its type. */
  wrongNumber(value: number, goType: string, context: Context): void {
    this.error(wrongTypeText(`number ${value}`, goType, context));
  }

  error(message: string): void {
    this.#firstError ??= message;
  }

  /** Throws the first error, if there is one. */
  check(): void {
    if (this.#firstError !== undefined) throw decodeError(this.#firstError);
  }

  #add(problem: string): void {
    if (this.#strict.size < MAX_PROBLEMS) this.#strict.add(problem);
  }
}

/** An error that ends decoding at once, like the errors of Go's `UnmarshalJSON`. */
export const decodeError = (message: string): PodwrightError => new PodwrightError('invalid_argument', message);

/** An error that ends decoding because a value has the wrong type. */
export const wrongTypeError = (value: unknown, goType: string, context: Context): PodwrightError =>
  decodeError(wrongTypeText(kindOf(value), goType, context));

function wrongTypeText(value: string, goType: string, { struct, fields }: Context): string {
  const target = struct === '' ? 'value' : `struct field ${struct}.${fields}`;
  return `json: cannot unmarshal ${value} into Go ${target} of type ${goType}`;
}

/** Go's name for the type of a JSON value. */
function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

/** Like Go's `strconv.Quote`, for strings without control characters. */
const quoted = (text: string): string => JSON.stringify(text);
