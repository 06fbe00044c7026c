/** Resolves at the first SIGTERM, SIGINT or SIGHUP, or when `request` is called by the local API. */
export function untilStopped(): { stopped: Promise<void>; request: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(name, () => resolve());
  return { stopped: promise, request: () => resolve() };
}
