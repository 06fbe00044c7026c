/** One term of a field selector: a field, an operator, and a value in which `\` escapes `,`, `=` and itself. */
const TERM = /^([^=!\\,]+)(==|=|!=)((?:[^\\,=]|\\[\\,=])*)$/;

/**
 * The name that a field selector requires, or ''. A list or watch of one object is authorized for that name. Names that cannot be in a path
 * do not count, and neither does a malformed selector.
 */
export function exactName(selector: string): string {
  if (!selector.includes('metadata.name')) return '';
  const terms = selector.split(/(?<!(?:^|[^\\])(?:\\\\)*\\),/).map((term) => TERM.exec(term));
  if (terms.some((term) => term === null)) return '';
  const [, , , value = ''] = terms.find((term) => term![1] === 'metadata.name' && term![2] !== '!=') ?? [];
  const name = value.replaceAll(/\\(.)/g, '$1');
  return name === '.' || name === '..' || /[/%]/.test(name) ? '' : name;
}
