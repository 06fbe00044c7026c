/**
 * Called at each named stage of each verb (`sandbox-run/network-up`). Tests pass one that throws, waits or kills the
 * process there; the product passes none.
 */
export type Failpoint = (stage: string) => Promise<void> | void;

export const noFailpoint: Failpoint = () => undefined;
