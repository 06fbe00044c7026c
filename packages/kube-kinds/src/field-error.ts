/** An error in a field of an object, as in the causes of an Invalid Status (apimachinery, util/validation/field). */
export type FieldError = {
  reason: FieldErrorReason;
  /** Starts with the reason, such as `Required value` or `Invalid value: "a b"`. */
  message: string;
  /** Field path, such as `spec.containers[0].image`. */
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

/** Maximum length of values shown in messages. Longer ones are truncated to keep messages readable. */
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

/** Returns the error for an unsupported value. The message lists the supported ones in the given order. */
export const notSupported = (field: string, value: unknown, supported: readonly string[]): FieldError => {
  const listed = supported.map((one) => JSON.stringify(one)).join(', ');
  const detail = supported.length === 0 ? '' : `supported values: ${listed}`;
  return error('FieldValueNotSupported', field, { title: `Unsupported value: ${shown(value)}`, detail });
};

/** Returns the error for a value longer than `maxLength` bytes. */
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

/** Formats a value as JSON. As in Go, an absent value is `null`. */
function shown(value: unknown): string {
  const text = typeof value === 'bigint' ? String(value) : JSON.stringify(value ?? null);
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}…`;
}
