import { readYamlDocuments } from '@podwright/kube-api';
import type { JsonPath } from '@podwright/kube-schema';
import { checkValues } from './check-values.ts';
import { JsonSyntaxError, scanJson } from './json-scanner.ts';

/** A parsed JSON or YAML request body. */
export type ParsedBody = {
  value: unknown;
  /** The paths of duplicate fields in a JSON body. */
  duplicates: readonly JsonPath[];
  /** Duplicate fields in a YAML body, worded as in upstream, e.g. `line 3: key "a" already set in map`. */
  yamlProblems: readonly string[];
};

/** Thrown if the body is malformed. The message matches upstream's wherever clients may depend on it. */
export class BodySyntaxError extends Error {}

/** Parses JSON. Throws `BodySyntaxError` with the message of Go's encoding/json, or 413 if there are too many values. */
export function parseJsonBody(text: string): ParsedBody {
  try {
    // both calls are needed: only `scanJson` finds duplicate fields, and only `JSON.parse` returns the value
    const duplicates = scanJson(text);
    const value: unknown = JSON.parse(text);
    checkValues(value);
    return { value, duplicates, yamlProblems: [] };
  } catch (error) {
    if (error instanceof JsonSyntaxError || error instanceof SyntaxError) throw new BodySyntaxError(error.message);
    throw error;
  }
}

/** Parses the first document of a YAML text. Throws the same errors as `parseJsonBody`. */
export function parseYamlBody(text: string): ParsedBody {
  const json = /^\s*\{/.test(text) ? parsedAsJson(text) : undefined;
  if (json !== undefined) return json;
  const { documents, problems } = readYamlDocuments(text, 1);
  const [problem] = problems;
  if (problem !== undefined) throw new BodySyntaxError(`yaml: line ${problem.line}: ${problem.message}`);
  const [document] = documents;
  const yamlProblems = (document?.duplicates ?? []).map(
    ({ line, path }) => `line ${line}: key ${JSON.stringify(path.at(-1))} already set in map`,
  );
  checkValues(document?.value);
  return { value: document?.value ?? null, duplicates: [], yamlProblems };
}

/**
 * Parses a YAML body as JSON, which is much faster. Returns `undefined` if the text is not JSON, or if it has duplicate fields, which must
 * be reported in the YAML library's words.
 */
function parsedAsJson(text: string): ParsedBody | undefined {
  try {
    const parsed = parseJsonBody(text); // many times faster than the YAML reader, and clients send JSON as YAML
    return parsed.duplicates.length === 0 ? parsed : undefined;
  } catch (error) {
    if (error instanceof BodySyntaxError) return undefined;
    throw error;
  }
}

/**
 * Returns the problem to report with `fieldValidation=Strict`. Like upstream, combines all duplicate fields into one message, one per line.
 */
export const yamlStrictProblem = (problems: readonly string[]): string[] =>
  problems.length === 0 ? [] : [`yaml: unmarshal errors:\n${problems.map((problem) => `  ${problem}`).join('\n')}`];
