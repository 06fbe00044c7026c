/** Timeouts for OCI runtime calls, in milliseconds, and the size of the seccomp filter cache. */

/** Timeout for short commands such as `delete` and `update`. */
export const COMMAND_TIMEOUT_MS = 30_000;
/** Timeout for the `features` command. */
export const FEATURES_TIMEOUT_MS = 10_000;
/** Timeout for a trial's `create` command. */
export const TRIAL_CREATE_TIMEOUT_MS = 30_000;
/** Maximum interval between checks whether a task has passed its start FIFO. */
export const START_LOOK_MS = 20;
/** Maximum number of cached seccomp filters, at 11 KB each. The default profile alone needs one filter per set of capabilities. */
export const MAX_SECCOMP_FILTERS = 64;
