/** Whether a field selector requires the field to have exactly this value, so that no other objects match. */
export function requiresField(selector: string, field: string, value: string): boolean {
  return termsOf(selector).some((term) => {
    const [, name, operator, required] = TERM.exec(term) ?? [];
    return name === field && operator !== '!=' && unescaped(required!) === value;
  });
}

/** Matches a field, its operator and a value. */
const TERM = /^(.*?)(!=|==|=)(.*)$/s;

/** Splits a field selector at its commas. A backslash escapes a comma. */
function termsOf(selector: string): string[] {
  return selector.match(/(?:\\.|[^,\\])+/gs) ?? [];
}

const unescaped = (value: string): string => value.replace(/\\([\\,=])/g, '$1');
