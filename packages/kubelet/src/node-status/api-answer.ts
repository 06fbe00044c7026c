import { isApiStatus } from '@podwright/kube-client';

/** Resolves with the response, or with `undefined` on 404 Not Found. */
export async function absentAsUndefined<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (isApiStatus(error, 404)) return undefined;
    throw error;
  }
}
