/** Problems of a JSON object, in the words and order of upstream's decoder (sigs.k8s.io/json). */
import { PodwrightError } from '@podwright/base';

/** The decoder reports no more. */
const MAX_PROBLEMS = 100;

/** Field names and list indexes from an object's root. */
export type JsonPath = readonly (string | number)[];

/** As in `spec.containers[0].name`; names are not quoted. */
export function formatPath(path: JsonPath): string {
  return path.reduce<string>(
    (text, step) => (typeof step === 'number' ? `${text}[${step}]` : text === '' ? step : `${text}.${step}`),
    '',
  );
}

/** Where the decoder is: the path, and what errors of types name. */
export type Context = {
  path: JsonPath;
  /** The struct around the last field, without its package; '' at the root. */
  struct: string;
  /** The fields from the root, without list indexes and keys of maps. */
  fields: string;
};

/** Collects the problems of one object. */
export class Problems {
  readonly #duplicates: ReadonlySet<string>;
  readonly #strict = new Set<string>();
  #firstError: string | undefined;

  /** `duplicates`: paths of the fields that the text has more than once, which JSON values do not show. */
  constructor(duplicates: readonly JsonPath[]) {
    this.#duplicates = new Set(duplicates.map(formatPath));
  }

  /** The strict problems, such as `unknown field "spec.foo"`. */
  get strict(): string[] {
    return [...this.#strict];
  }

  unknownField(path: JsonPath): void {
    this.#add(`unknown field ${quoted(formatPath(path))}`);
  }

  /** Reports the field if the text has it more than once. */
  knownField(path: JsonPath): void {
    if (this.#duplicates.size === 0) return;
    const text = formatPath(path);
    if (this.#duplicates.has(text)) this.#add(`duplicate field ${quoted(text)}`);
  }

  /** A value of the wrong type: the decoder goes on, and fails with the first such error. */
  wrongType(value: unknown, goType: string, context: Context): void {
    this.error(wrongTypeText(kindOf(value), goType, context));
  }

  /** A number that does not fit. */
  wrongNumber(value: number, goType: string, context: Context): void {
    this.error(wrongTypeText(`number ${value}`, goType, context));
  }

  error(message: string): void {
    this.#firstError ??= message;
  }

  /** Throws the first error. */
  check(): void {
    if (this.#firstError !== undefined) throw decodeError(this.#firstError);
  }

  #add(problem: string): void {
    if (this.#strict.size < MAX_PROBLEMS) this.#strict.add(problem);
  }
}

/** An error that ends decoding at once, as those of Go's `UnmarshalJSON` do. */
export const decodeError = (message: string): PodwrightError => new PodwrightError('invalid_argument', message);

/** Ends decoding because of a value of the wrong type. */
export const wrongTypeError = (value: unknown, goType: string, context: Context): PodwrightError =>
  decodeError(wrongTypeText(kindOf(value), goType, context));

function wrongTypeText(value: string, goType: string, { struct, fields }: Context): string {
  const target = struct === '' ? 'value' : `struct field ${struct}.${fields}`;
  return `json: cannot unmarshal ${value} into Go ${target} of type ${goType}`;
}

/** Go's word for a JSON value. */
function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

/** As Go's `strconv.Quote`, for texts without control characters. */
const quoted = (text: string): string => JSON.stringify(text);
