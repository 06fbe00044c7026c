/** How a daemon was asked to end. `removeHostState` also takes down what an empty node leaves on the machine. */
export type StopRequest = { removeHostState: boolean };

/** Resolves at the first SIGTERM, SIGINT or SIGHUP, or when `request` is called. */
export function untilStopped(): { stopped: Promise<StopRequest>; request: (request: StopRequest) => void } {
  const { promise, resolve } = Promise.withResolvers<StopRequest>();
  for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
    process.on(name, () => resolve({ removeHostState: false }));
  return { stopped: promise, request: resolve };
}
