import { isApiStatus } from '@podwright/kube-client';

/** The answer, or `undefined` where it says that there is no such object. */
export async function absentAsUndefined<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (isApiStatus(error, 404)) return undefined;
    throw error;
  }
}
