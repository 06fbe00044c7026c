import { badRequest } from '@podwright/api-machinery';

/** Throws 400 if a name or namespace is not valid as a segment of a URL path. */
export function checkPathSegment(value: string, parameter: 'Name' | 'Namespace'): void {
  const problems = value === '.' || value === '..' ? [`may not be '${value}'`] : [];
  for (const character of '/%') if (value.includes(character)) problems.push(`may not contain '${character}'`);
  if (problems.length > 0)
    throw badRequest(`${parameter} parameter invalid: ${JSON.stringify(value)}: ${problems.join(';')}`);
}
