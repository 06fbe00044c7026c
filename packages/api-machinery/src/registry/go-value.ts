/** Formats parsed JSON like Go's `%+v`, as in `map[a:1 b:[x y] c:<nil>]`. Error messages about strategic merge patches use this format. */
export function formatGoValue(value: unknown): string {
  if (value === null || value === undefined) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(formatGoValue).join(' ')}]`;
  if (typeof value !== 'object') return String(value);
  const fields = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `map[${fields.map(([name, one]) => `${name}:${formatGoValue(one)}`).join(' ')}]`;
}
