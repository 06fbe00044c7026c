import { PodwrightError } from '@podwright/base';

/**
 * The id that a call names. Calls for which a thing that is gone is a success must not take '' for one: `invalid_argument`.
 */
export function givenId(what: string, id: string): string {
  if (id !== '') return id;
  throw new PodwrightError('invalid_argument', `${what}: the request names none`);
}
