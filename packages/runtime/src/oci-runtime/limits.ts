/** What the calls of OCI runtimes may take, in milliseconds, and what is kept of them. */

/** `delete`, `update` and the like. */
export const COMMAND_TIMEOUT_MS = 30_000;
/** `features`. */
export const FEATURES_TIMEOUT_MS = 10_000;
/** `create` in a trial. */
export const TRIAL_CREATE_TIMEOUT_MS = 30_000;
/** The longest between two looks at a task that does not go on at its start. */
export const START_LOOK_MS = 20;
/** Compiled seccomp filters in memory: of the default profile there are some, by capabilities; one takes 11 KB. */
export const MAX_SECCOMP_FILTERS = 64;
