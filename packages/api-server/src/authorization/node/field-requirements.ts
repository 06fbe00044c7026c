/** Whether a field selector requires that a field has a value, so that it selects no other objects. */
export function requiresField(selector: string, field: string, value: string): boolean {
  return termsOf(selector).some((term) => {
    const [, name, operator, required] = TERM.exec(term) ?? [];
    return name === field && operator !== '!=' && unescaped(required!) === value;
  });
}

/** A field, the first operator after it, and a value. */
const TERM = /^(.*?)(!=|==|=)(.*)$/s;

/** The terms between commas. A backslash escapes a comma. */
function termsOf(selector: string): string[] {
  return selector.match(/(?:\\.|[^,\\])+/gs) ?? [];
}

const unescaped = (value: string): string => value.replace(/\\([\\,=])/g, '$1');
