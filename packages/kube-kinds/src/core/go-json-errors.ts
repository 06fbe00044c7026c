const GO_TYPES: Record<string, string> = { string: 'string', number: 'number', boolean: 'bool' };

/**
 * Returns why a text is not a JSON object, or `undefined` if it is, with the error messages of Go's encoding/json. A syntax error is
 * reported at the character where JavaScript's parser stops.
 */
export function jsonMapProblem(text: string): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return syntaxProblem(text, (error as Error).message);
  }
  if (typeof value === 'object' && !Array.isArray(value)) return undefined;
  const type = Array.isArray(value) ? 'array' : GO_TYPES[typeof value];
  return `json: cannot unmarshal ${type} into Go value of type map[string]interface {}`;
}

function syntaxProblem(text: string, message: string): string {
  const position = /at position (\d+)/.exec(message)?.[1];
  const character = position === undefined ? text.trimStart()[0] : text[Number(position)];
  if (message.includes('Unexpected end') || character === undefined) return 'unexpected end of JSON input';
  return `invalid character '${character}' looking for beginning of value`;
}
