import { isNotFound } from '@podwright/base';

/** Resolves to the promise's value, or to `undefined` if it rejects with `not_found`. */
export async function unlessNotFound<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
