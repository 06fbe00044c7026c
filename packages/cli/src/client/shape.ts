/**
 * Checks the shape of JSON values, with the same messages as zod. Loading zod itself would add 20 ms to the startup of every command that
 * calls a node.
 */

/** The first problem found in a value, and the path to the invalid part. */
export type ShapeProblem = { path: (string | number)[]; message: string };

export class Shape {
  /** Returns the first problem with a value, or `undefined` if the value is valid. */
  readonly problem: (value: unknown) => ShapeProblem | undefined;

  constructor(problem: (value: unknown) => ShapeProblem | undefined) {
    this.problem = problem;
  }

  /** Returns this check for an optional field: one that also accepts `undefined`. */
  optional(): Shape {
    return new Shape((value) => (value === undefined ? undefined : this.problem(value)));
  }
}

const expected = (kind: string, value: unknown) => ({
  path: [],
  message: `Invalid input: expected ${kind}, received ${kindOf(value)}`,
});

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

const kind = (name: string) => new Shape((value) => (kindOf(value) === name ? undefined : expected(name, value)));

export const string = () => kind('string');
export const number = () => kind('number');
export const boolean = () => kind('boolean');

/** Returns a check that accepts integers. */
export const int = () =>
  new Shape((value) => {
    if (typeof value !== 'number') return expected('number', value);
    return Number.isSafeInteger(value) ? undefined : expected('int', value);
  });

/** Returns a check that accepts integers greater than 0. */
export const positiveInt = () =>
  new Shape((value) => {
    const positive = typeof value !== 'number' || value > 0;
    return (
      int().problem(value) ?? (positive ? undefined : { path: [], message: 'Too small: expected number to be >0' })
    );
  });

export const oneOf = (values: readonly string[]) =>
  new Shape((value) => {
    if (typeof value === 'string' && values.includes(value)) return undefined;
    return { path: [], message: `Invalid option: expected one of ${values.map((one) => `"${one}"`).join('|')}` };
  });

export const array = (items: Shape) =>
  new Shape((value) => {
    if (!Array.isArray(value)) return expected('array', value);
    for (const [index, item] of value.entries()) {
      const problem = items.problem(item);
      if (problem !== undefined) return below(index, problem);
    }
    return undefined;
  });

/** Returns a check that accepts objects with at least these fields. */
export const object = (fields: Record<string, Shape>) =>
  new Shape((value) => {
    if (kindOf(value) !== 'object') return expected('object', value);
    for (const [name, field] of Object.entries(fields)) {
      const problem = field.problem((value as Record<string, unknown>)[name]);
      if (problem !== undefined) return below(name, problem);
    }
    return undefined;
  });

const below = (step: string | number, { path, message }: ShapeProblem) => ({ path: [step, ...path], message });
