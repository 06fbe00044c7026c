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

/** A field of an object under validation: its path, and the list of the object's errors, to which its methods add. */
export class Field {
  readonly path: string;
  readonly errors: FieldError[];

  constructor(path = '', errors: FieldError[] = []) {
    this.path = path;
    this.errors = errors;
  }

  /** A field below this one. Texts are names of fields, numbers are indexes. */
  at(...steps: (string | number)[]): Field {
    const path = steps.reduce<string>((parent, step) => {
      if (typeof step === 'number') return `${parent}[${step}]`;
      return parent === '' ? step : `${parent}.${step}`;
    }, this.path);
    return new Field(path, this.errors);
  }

  /** An element of a map. */
  key(key: string): Field {
    return new Field(`${this.path}[${key}]`, this.errors);
  }

  /** Adds the errors of a function that takes the path, such as those of labels.ts. */
  add(errors: readonly FieldError[]): void {
    for (const error of errors) this.errors.push(error);
  }

  required(detail = ''): void {
    this.errors.push(required(this.path, detail));
  }

  invalid(value: unknown, detail: string): void {
    this.errors.push(invalidValue(this.path, value, detail));
  }

  /** Adds an error for each problem of a value, as the functions of names.ts and texts.ts return them. */
  invalidEach(value: unknown, problems: readonly string[]): void {
    for (const problem of problems) this.invalid(value, problem);
  }

  /** An invalid value that upstream does not show. */
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

  /** A value of an enumeration that is required. */
  oneOf(value: string, supported: readonly string[]): void {
    if (value === '') this.required();
    else if (!supported.includes(value)) this.notSupported(value, supported);
  }

  /** A number that may be absent, but not negative. */
  notNegative(value: number | undefined): void {
    if (value !== undefined && value < 0) this.invalid(value, 'must be greater than or equal to 0');
  }

  positive(value: number): void {
    if (value <= 0) this.invalid(value, 'must be greater than zero');
  }
}
