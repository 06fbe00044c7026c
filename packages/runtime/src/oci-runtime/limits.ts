/** Time limits of OCI runtime calls, in milliseconds, and a cache size. */

/** Limit for short commands such as `delete` and `update`. */
export const COMMAND_TIMEOUT_MS = 30_000;
/** Limit for `features`. */
export const FEATURES_TIMEOUT_MS = 10_000;
/** Limit for `create` in a trial. */
export const TRIAL_CREATE_TIMEOUT_MS = 30_000;
/** Maximum interval between checks whether a task has got past its start FIFO. */
export const START_LOOK_MS = 20;
/** Maximum number of cached seccomp filters of 11 KB each. The default profile alone needs one for each set of capabilities. */
export const MAX_SECCOMP_FILTERS = 64;
