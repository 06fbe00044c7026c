/** Resolves to true once all caches have completed their initial list, or to false if they are stopped first. */
export async function untilSynced(...caches: { synced: Promise<void> }[]): Promise<boolean> {
  try {
    await Promise.all(caches.map(({ synced }) => synced));
    return true;
  } catch {
    return false; // the synchronization of a cache fails only because the cache is stopped
  }
}
