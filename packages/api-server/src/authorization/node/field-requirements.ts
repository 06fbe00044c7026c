/** Whether a field selector only matches objects where the field has this value. */
export function requiresField(selector: string, field: string, value: string): boolean {
  return termsOf(selector).some((term) => {
    const [, name, operator, required] = TERM.exec(term) ?? [];
    return name === field && operator !== '!=' && unescaped(required!) === value;
  });
}

/** Matches one term of a field selector, and captures the field, the operator and the value. */
const TERM = /^(.*?)(!=|==|=)(.*)$/s;

/** Splits a field selector at its commas, except those escaped with a backslash. */
function termsOf(selector: string): string[] {
  return selector.match(/(?:\\.|[^,\\])+/gs) ?? [];
}

const unescaped = (value: string): string => value.replace(/\\([\\,=])/g, '$1');
