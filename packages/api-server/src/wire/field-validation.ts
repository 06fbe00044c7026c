import { strictDecodingMessage } from '@podwright/kube-schema';
import { type ParsedBody, yamlStrictProblem } from './parsed-body.ts';

/** How a server treats unknown and duplicate fields (the query's `fieldValidation`). */
export type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

/** Reports a warning to the client. */
export type Warn = (message: string) => void;

/** Warns of problems; with `Strict`, returns the error message instead. `problems` are those of `decodeJson`. */
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
