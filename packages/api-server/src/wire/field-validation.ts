import { strictDecodingMessage } from '@podwright/kube-schema';
import { type ParsedBody, yamlStrictProblem } from './parsed-body.ts';

/** How the server treats unknown and duplicate fields in a request body (`fieldValidation` query parameter). */
export type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

/** Adds a warning to the API response. */
export type Warn = (message: string) => void;

/**
 * Reports the unknown and duplicate fields of a request body: adds a warning for each or, with `Strict`, returns them as an error message.
 * `problems`: as returned by `decodeJson`.
 */
export function strictError(
  problems: readonly string[],
  { yamlProblems }: Pick<ParsedBody, 'yamlProblems'>,
  { fieldValidation, warn }: { fieldValidation: FieldValidation; warn: Warn },
): string | undefined {
  if (fieldValidation === 'Ignore' || problems.length + yamlProblems.length === 0) return undefined;
  if (fieldValidation === 'Strict') return strictDecodingMessage([...yamlStrictProblem(yamlProblems), ...problems]);
  for (const problem of [...yamlProblems, ...problems]) warn(problem);
  return undefined;
}
