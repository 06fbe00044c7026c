import { didYouMean } from '@podwright/base';
import * as z from 'zod';

/** A configuration error: the path of the offending key, and the message. */
export type ConfigProblem = { path: PropertyKey[]; message: string };

/** Rewrites zod's issues for a user who edits the configuration file. `schema` provides the known keys. */
export function configProblems(schema: z.ZodType, issues: readonly z.core.$ZodIssue[]): ConfigProblem[] {
  return issues.flatMap((issue) => {
    if (issue.code === 'unrecognized_keys') {
      const known = keysAt(schema, issue.path);
      return issue.keys.map((key) => ({ path: [...issue.path, key], message: unknownKey(key, known) }));
    }
    return [{ path: issue.path, message: messageOf(issue) }];
  });
}

function unknownKey(key: string, known: string[]): string {
  const meant = didYouMean(key, known);
  return `there is no such key${meant === '' ? `; there are ${known.join(', ')}` : meant}`;
}

const KINDS: Record<string, string> = {
  string: 'a string',
  // all numbers in the configuration are whole numbers
  int: 'a whole number',
  number: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a table',
  record: 'a table',
};

function messageOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.path.join() === 'runtime') return 'must be a table, or "docker" to run containers by a Docker Engine';
      return issue.input === undefined ? 'is needed' : `must be ${KINDS[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `must be one of ${issue.values.join(', ')}`;
    case 'too_small':
      return isSize(issue.origin) ? 'must not be empty' : `must be at least ${issue.minimum}`;
    case 'too_big':
      return isSize(issue.origin) ? `must not be longer than ${issue.maximum}` : `must be at most ${issue.maximum}`;
    case 'invalid_key':
      return issue.issues.map(({ message }) => `the name ${message}`).join('; ');
    default:
      return issue.message;
  }
}

const isSize = (origin: string) => origin === 'string' || origin === 'array';

type JsonSchema = { properties?: Record<string, JsonSchema>; additionalProperties?: JsonSchema; items?: JsonSchema };

function keysAt(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  let at: JsonSchema | undefined = z.toJSONSchema(schema, { io: 'input' }) as JsonSchema;
  for (const key of path) at = at?.properties?.[String(key)] ?? at?.additionalProperties ?? at?.items;
  return Object.keys(at?.properties ?? {});
}
