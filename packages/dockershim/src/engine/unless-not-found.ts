import { isNotFound } from '@podwright/base';

/** The promise's value, or `undefined` if it rejects with `not_found`. */
export async function unlessNotFound<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
