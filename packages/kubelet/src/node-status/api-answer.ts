import { isApiStatus } from '@podwright/kube-client';

/** Resolves with the API server's response, or with `undefined` if that is 404 Not Found. */
export async function absentAsUndefined<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (isApiStatus(error, 404)) return undefined;
    throw error;
  }
}
