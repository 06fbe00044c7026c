/** Timeouts of OCI runtime calls, in milliseconds, and a cache size. */

/** Timeout of short commands such as `delete` and `update`. */
export const COMMAND_TIMEOUT_MS = 30_000;
/** Timeout of the `features` command. */
export const FEATURES_TIMEOUT_MS = 10_000;
/** Timeout of the `create` command in a trial. */
export const TRIAL_CREATE_TIMEOUT_MS = 30_000;
/** Maximum interval between checks of whether a task has got past its start FIFO. */
export const START_LOOK_MS = 20;
/** Maximum number of cached seccomp filters of 11 KB each. The default profile alone needs one for each set of capabilities. */
export const MAX_SECCOMP_FILTERS = 64;
