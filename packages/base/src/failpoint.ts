/**
 * Called at each named stage of each verb (such as `sandbox-run/network-up`). Tests pass one that throws, waits or kills the
 * process there; production code passes `noFailpoint`.
 */
export type Failpoint = (stage: string) => Promise<void> | void;

export const noFailpoint: Failpoint = () => undefined;
