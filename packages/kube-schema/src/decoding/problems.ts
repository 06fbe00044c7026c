/** Problems found while decoding a JSON object, worded and ordered as in upstream's decoder (sigs.k8s.io/json). */

import { PodwrightError } from '@podwright/base';
import { goQuote } from '@podwright/kube-api';
import { conversionError, type Expected } from './conversion-errors.ts';
import { withEmbedded } from './embedded-structs.ts';

/** Maximum number of problems, as in upstream's decoder. */
const MAX_PROBLEMS = 100;

/** Path of a decoded value: field names and list indexes, starting from the object's root. */
export type JsonPath = readonly (string | number)[];

/** Formats a JSON path like `spec.containers[0].name`; field names are not quoted. */
export function formatPath(path: JsonPath): string {
  return path.reduce<string>(
    (text, step) => (typeof step === 'number' ? `${text}[${step}]` : text === '' ? step : `${text}.${step}`),
    '',
  );
}

/**
 * The decoder's position: a field or element, and the position that contains it. The path's text is only built when a problem is reported,
 * because almost all objects have none.
 */
export type Context = {
  /** The unqualified name of the struct that contains the last field; '' at the root. */
  struct: string;
  below:
    | { root: JsonPath }
    /** `step` is a field name, a list index or a map key; `field` is set only if it is a field name. */
    | { above: Context; step: string | number; field?: string };
};

/** Returns the position at the root of an object to decode. `path`: the object's path within another object, if it is embedded in one. */
export const rootContext = (path: JsonPath = [], struct = ''): Context => ({ struct, below: { root: path } });

/** Returns the path from the root to a position. */
export function pathOf({ below }: Context): JsonPath {
  return 'root' in below ? below.root : [...pathOf(below.above), below.step];
}

/** Returns the field names from the root to the position, without list indexes and map keys, as in Go's errors. */
export function fieldsOf({ struct, below }: Context): string {
  if ('root' in below) return '';
  const above = fieldsOf(below.above);
  if (below.field === undefined) return above;
  const shown = withEmbedded(struct, below.field);
  return above === '' ? shown : `${above}.${shown}`;
}

/** What upstream decodes: JSON, or the maps produced by a strategic merge patch. The two decoders' error messages differ. */
export type DecodingSource = 'json' | 'map';

/** Collects the problems found in one object. */
export class Problems {
  readonly #duplicates: ReadonlySet<string>;
  readonly #isMap: boolean;
  readonly #strict = new Set<string>();
  #firstError: string | undefined;

  /** `duplicates`: paths of fields that occur more than once in the source text, which cannot be seen in parsed JSON. */
  constructor(duplicates: readonly JsonPath[], source: DecodingSource = 'json') {
    this.#duplicates = new Set(duplicates.map(formatPath));
    this.#isMap = source === 'map';
  }

  /** The problems that strict validation reports, such as `unknown field "spec.foo"`. */
  get strict(): string[] {
    return [...this.#strict];
  }

  unknownField(path: JsonPath): void {
    this.#add(`unknown field ${goQuote(formatPath(path))}`);
  }

  /** Reports the field at the position if it occurs more than once in the source text. */
  knownField(context: Context): void {
    if (this.#duplicates.size === 0) return;
    const text = formatPath(pathOf(context));
    if (this.#duplicates.has(text)) this.#add(`duplicate field ${goQuote(text)}`);
  }

  /** Reports a value of the wrong type. Decoding continues; `check` throws the first such error. */
  wrongType(value: unknown, expected: Expected, context: Context): void {
    if (this.#isMap) this.error(conversionError(value, expected));
    else this.error(wrongTypeText(kindOf(value), expected.goType, context));
  }

  /** Reports a number that is out of range or not valid for its type. */
  wrongNumber(value: number, expected: Expected, context: Context): void {
    if (this.#isMap && !Number.isInteger(value)) this.error(conversionError(value, expected));
    else this.error(wrongTypeText(`number ${value}`, expected.goType, this.shown(context)));
  }

  /** Reports text that is not valid base64. */
  wrongBytes(message: string): void {
    this.error(this.#isMap ? `error decoding from json: ${message}` : message);
  }

  /**
   * Returns the position to show in errors of `UnmarshalJSON`. When upstream decodes maps rather than JSON, these errors show no position.
   */
  shown(context: Context): Context {
    return this.#isMap ? { ...context, struct: '' } : context;
  }

  error(message: string): void {
    this.#firstError ??= message;
  }

  /** Throws the first decoding error, if there is one. */
  check(): void {
    if (this.#firstError !== undefined) throw decodeError(this.#firstError);
  }

  /** Reports all fields that occur more than once in the source text as strict problems. */
  allDuplicates(): void {
    for (const text of this.#duplicates) this.#add(`duplicate field ${goQuote(text)}`);
  }

  /** Adds the strict problems found while decoding another part of the object. */
  merge({ strict }: Problems): void {
    for (const problem of strict) this.#add(problem);
  }

  #add(problem: string): void {
    if (this.#strict.size < MAX_PROBLEMS) this.#strict.add(problem);
  }
}

/** Returns an error that ends decoding immediately, like the errors of Go's `UnmarshalJSON`. */
export const decodeError = (message: string): PodwrightError => new PodwrightError('invalid_argument', message);

/** Returns an error that ends decoding because a value has the wrong type. */
export const wrongTypeError = (value: unknown, goType: string, context: Context): PodwrightError =>
  decodeError(wrongTypeText(kindOf(value), goType, context));

function wrongTypeText(value: string, goType: string, context: Context): string {
  return `json: cannot unmarshal ${value} into Go ${targetText(context)} of type ${goType}`;
}

/** Returns the target that a value is decoded into, as named in Go's errors: `value` or `struct field STRUCT.FIELDS`. */
export const targetText = (context: Context): string =>
  context.struct === '' ? 'value' : `struct field ${context.struct}.${fieldsOf(context)}`;

/** Returns Go's name for the type of a JSON value. */
function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}
