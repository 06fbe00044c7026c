/**
 * Called at each named stage of an operation (such as `sandbox-run/network-up`). Tests pass a function that throws, waits or kills the
 * process; production code passes `noFailpoint`.
 */
export type Failpoint = (stage: string) => Promise<void> | void;

export const noFailpoint: Failpoint = () => undefined;
