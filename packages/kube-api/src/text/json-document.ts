import type { FieldPath } from '../issue.ts';

/** A single JSON object: its value and the positions of its fields. */
export type JsonDocument = {
  value: unknown;
  /** Returns the offset of a field's value or name, or of the nearest enclosing node (object or list) if the field is absent. */
  offsetOf(path: FieldPath, at: 'key' | 'value'): number;
  /** Returns a scalar as written, without quotes; `undefined` if the field is not a scalar. */
  written(path: FieldPath): string | undefined;
};

/** A node in the JSON text. Scalars have `end`; lists and objects have `parts`. */
type Part = { offset: number; keyOffset?: number; end?: number; parts?: Map<string | number, Part>; isList?: boolean };

/**
 * Limits for JSON texts. Larger or more deeply nested ones are left to the YAML reader, which has limits of its own and reports violations.
 */
const MAX_TOKENS = 50_000;
const MAX_DEPTH = 50;
/** Maximum length of a number. The YAML reader treats longer ones as strings. */
const MAX_NUMBER_LENGTH = 100;

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/**
 * Fast path for JSON, as written by programs, by `podwright run` and by the node daemon: returns the same result as the YAML reader, but
 * many times faster. Returns `undefined` for anything else, including multiple objects and duplicate keys.
 */
export function readJsonDocument(text: string): JsonDocument | undefined {
  if (!/^\s*\{/.test(text.slice(0, 1000))) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    const root = partsOf(text);
    return root && { value, ...finder(text, root) };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Parses valid JSON into a tree of nodes. */
function partsOf(text: string): Part | undefined {
  const open: Part[] = [];
  let root: Part | undefined;
  let key: { name: string; offset: number } | undefined;
  let tokens = 0;
  for (const { 0: token, index: offset } of text.matchAll(TOKEN)) {
    if (++tokens > MAX_TOKENS || open.length > MAX_DEPTH) return undefined;
    const around = open.at(-1);
    if (token === ',' || token === ':') continue;
    if (token === '}' || token === ']') open.pop();
    else if (around?.parts !== undefined && !around.isList && key === undefined) {
      key = { name: JSON.parse(token) as string, offset };
      if (around.parts.has(key.name)) return undefined;
    } else {
      if (isOtherInYaml(token)) return undefined;
      const opens = token === '{' || token === '[';
      const part: Part = opens
        ? { offset, keyOffset: key?.offset, parts: new Map(), isList: token === '[' }
        : { offset, keyOffset: key?.offset, end: offset + token.length };
      around?.parts?.set(key?.name ?? around.parts.size, part);
      root ??= part;
      if (opens) open.push(part);
      key = undefined;
    }
  }
  return root;
}

/** Whether the token is a number that the YAML reader treats as a string. */
function isOtherInYaml(token: string): boolean {
  return /^[-\d]/.test(token) && (token.length > MAX_NUMBER_LENGTH || !Number.isFinite(Number(token)));
}

function finder(text: string, root: Part): Pick<JsonDocument, 'offsetOf' | 'written'> {
  return {
    offsetOf: (path, at) => {
      let [part, offset]: [Part | undefined, number] = [root, root.offset];
      for (const [index, step] of path.entries()) {
        part = within(part, step);
        if (part === undefined) return offset;
        const isWantedKey = index === path.length - 1 && at === 'key';
        offset = isWantedKey ? (part.keyOffset ?? offset) : part.offset;
      }
      return offset;
    },
    written: (path) => {
      const part = path.reduce<Part | undefined>((found, step) => found && within(found, step), root);
      if (part?.end === undefined) return undefined;
      const token = text.slice(part.offset, part.end);
      return token.startsWith('"') ? (JSON.parse(token) as string) : token;
    },
  };
}

function within({ parts, isList }: Part, step: string | number): Part | undefined {
  return parts?.get(isList ? step : String(step));
}
