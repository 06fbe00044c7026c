import {
  duplicate,
  type FieldError,
  fieldNotFound,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
  tooLong,
  tooMany,
} from './field-error.ts';

/** A field being validated: its path, and the object's error list, to which the methods append. */
export class Field {
  readonly path: string;
  readonly errors: FieldError[];

  constructor(path = '', errors: FieldError[] = []) {
    this.path = path;
    this.errors = errors;
  }

  /** Returns a nested field. Strings are field names; numbers are list indexes. */
  at(...steps: (string | number)[]): Field {
    const path = steps.reduce<string>((parent, step) => {
      if (typeof step === 'number') return `${parent}[${step}]`;
      return parent === '' ? step : `${parent}.${step}`;
    }, this.path);
    return new Field(path, this.errors);
  }

  /** Returns the field for a map entry. */
  key(key: string): Field {
    return new Field(`${this.path}[${key}]`, this.errors);
  }

  /** Appends errors returned by functions that take a path, such as those in labels.ts. */
  add(errors: readonly FieldError[]): void {
    for (const error of errors) this.errors.push(error);
  }

  required(detail = ''): void {
    this.errors.push(required(this.path, detail));
  }

  invalid(value: unknown, detail: string): void {
    this.errors.push(invalidValue(this.path, value, detail));
  }

  /** Adds an error for each problem of a value, as returned by the functions in names.ts and texts.ts. */
  invalidEach(value: unknown, problems: readonly string[]): void {
    for (const problem of problems) this.invalid(value, problem);
  }

  /** Adds an error for an invalid value that, like upstream's error, does not show the value. */
  invalidOmitted(detail: string): void {
    this.errors.push({ reason: 'FieldValueInvalid', field: this.path, message: `Invalid value: ${detail}` });
  }

  forbidden(detail: string): void {
    this.errors.push(forbiddenField(this.path, detail));
  }

  duplicate(value: unknown): void {
    this.errors.push(duplicate(this.path, value));
  }

  notFound(value: unknown, detail = ''): void {
    const error = fieldNotFound(this.path, value);
    this.errors.push(detail === '' ? error : { ...error, message: `${error.message}: ${detail}` });
  }

  notSupported(value: unknown, supported: readonly string[]): void {
    this.errors.push(notSupported(this.path, value, supported));
  }

  tooLong(maxBytes: number): void {
    this.errors.push(tooLong(this.path, maxBytes));
  }

  tooMany(count: number, maxCount: number): void {
    this.errors.push(tooMany(this.path, count, maxCount));
  }

  /** Validates a required enum value. */
  oneOf(value: string, supported: readonly string[]): void {
    if (value === '') this.required();
    else if (!supported.includes(value)) this.notSupported(value, supported);
  }

  /** Rejects a negative number. The number may be absent. */
  notNegative(value: number | undefined): void {
    if (value !== undefined && value < 0) this.invalid(value, 'must be greater than or equal to 0');
  }

  positive(value: number): void {
    if (value <= 0) this.invalid(value, 'must be greater than zero');
  }
}
