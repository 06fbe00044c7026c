/** Formats parsed JSON as Go's `fmt` does, for the errors of strategic merge patches. */

/** Formats a value like `%v`, as in `map[a:1 b:[x y] c:<nil>]`. */
export function formatGoValue(value: unknown): string {
  if (value === null || value === undefined) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(formatGoValue).join(' ')}]`;
  if (typeof value !== 'object') return String(value);
  const fields = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `map[${fields.map(([name, one]) => `${name}:${formatGoValue(one)}`).join(' ')}]`;
}

/** Formats a value like `%s`, which marks values that are not strings: `%!s(int64=7)`. */
export const formatGoText = (value: unknown): string =>
  typeof value === 'number' || typeof value === 'boolean'
    ? `%!s(${goTypeName(value)}=${value})`
    : value === null || value === undefined
      ? '%!s(<nil>)'
      : formatGoValue(value);

/** Returns the Go name of a value's type, such as `map[string]interface {}`. */
export function goTypeName(value: unknown): string {
  if (value === null || value === undefined) return '%!s(<nil>)';
  if (Array.isArray(value)) return '[]interface {}';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  return typeof value === 'boolean' ? 'bool' : typeof value === 'string' ? 'string' : 'map[string]interface {}';
}
