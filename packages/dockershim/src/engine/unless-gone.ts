import { isNotFound } from '@podwright/base';

/** What the promise gives; nothing where what it is about is gone, which often is as asked for. */
export async function unlessGone<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
