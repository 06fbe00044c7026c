/** Waits for all calls. Rejects with the error of the first one that failed, after all have ended. */
export async function everyCall(calls: readonly Promise<unknown>[]): Promise<void> {
  const results = await Promise.allSettled(calls);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

/** Returns the error of work that failed, so that the caller can report the state before it throws the error. */
export async function failureOf(work: Promise<unknown>): Promise<{ error: unknown } | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    return { error };
  }
}
