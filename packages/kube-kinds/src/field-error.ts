/** An error in an object's field, like those in the causes of an Invalid Status (apimachinery, util/validation/field). */
export type FieldError = {
  reason: FieldErrorReason;
  /** Starts with the reason in words, such as `Required value` or `Invalid value: "a b"`. */
  message: string;
  /** The field's path, such as `spec.containers[0].image`. */
  field: string;
};

export type FieldErrorReason =
  | 'FieldValueNotFound'
  | 'FieldValueRequired'
  | 'FieldValueDuplicate'
  | 'FieldValueInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueForbidden'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'FieldValueTypeInvalid'
  | 'InternalError';

/** Values in messages are truncated to this length to keep errors readable. */
const MAX_SHOWN = 1024;

export const required = (field: string, detail = ''): FieldError =>
  error('FieldValueRequired', field, { title: 'Required value', detail });

export const invalidValue = (field: string, value: unknown, detail: string): FieldError =>
  error('FieldValueInvalid', field, { title: `Invalid value: ${shown(value)}`, detail });

export const typeInvalid = (field: string, value: unknown, detail: string): FieldError =>
  error('FieldValueTypeInvalid', field, { title: `Invalid value: ${shown(value)}`, detail });

export const duplicate = (field: string, value: unknown): FieldError =>
  error('FieldValueDuplicate', field, { title: `Duplicate value: ${shown(value)}` });

export const forbiddenField = (field: string, detail: string): FieldError =>
  error('FieldValueForbidden', field, { title: 'Forbidden', detail });

export const fieldNotFound = (field: string, value: unknown): FieldError =>
  error('FieldValueNotFound', field, { title: `Not found: ${shown(value)}` });

/** `value` is not one of the supported values. The message lists those in the given order. */
export const notSupported = (field: string, value: unknown, supported: readonly string[]): FieldError => {
  const listed = supported.map((one) => JSON.stringify(one)).join(', ');
  const detail = supported.length === 0 ? '' : `supported values: ${listed}`;
  return error('FieldValueNotSupported', field, { title: `Unsupported value: ${shown(value)}`, detail });
};

/** Returns the error for a value that is longer than `maxLength` bytes. */
export const tooLong = (field: string, maxLength: number): FieldError =>
  error('FieldValueTooLong', field, { title: 'Too long', detail: `may not be more than ${maxLength} bytes` });

export const tooMany = (field: string, count: number, maxCount: number): FieldError =>
  error('FieldValueTooMany', field, { title: `Too many: ${count}`, detail: `must have at most ${maxCount} items` });

function error(
  reason: FieldErrorReason,
  field: string,
  { title, detail = '' }: { title: string; detail?: string },
): FieldError {
  return { reason, message: detail === '' ? title : `${title}: ${detail}`, field };
}

/** Formats a value as JSON. An absent value becomes `null`, as in Go. */
function shown(value: unknown): string {
  const text = typeof value === 'bigint' ? String(value) : JSON.stringify(value ?? null);
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}…`;
}
