/** Matches one field selector term: a field, an operator, and a value in which `\` escapes `,`, `=` and `\`. */
const TERM = /^([^=!\\,]+)(==|=|!=)((?:[^\\,=]|\\[\\,=])*)$/;

/**
 * Returns the name required by a field selector, or '' if there is none: a list or watch of a single object is authorized for that object's
 * name. Ignores malformed selectors and names that are invalid in URL paths.
 */
export function exactName(selector: string): string {
  if (!selector.includes('metadata.name')) return '';
  const terms = selector.split(/(?<!(?:^|[^\\])(?:\\\\)*\\),/).map((term) => TERM.exec(term));
  if (terms.some((term) => term === null)) return '';
  const [, , , value = ''] = terms.find((term) => term![1] === 'metadata.name' && term![2] !== '!=') ?? [];
  const name = value.replaceAll(/\\(.)/g, '$1');
  return name === '.' || name === '..' || /[/%]/.test(name) ? '' : name;
}
