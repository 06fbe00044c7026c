/** Node shutdown timeouts and limits that are not configurable. */

/** Pause before reconnecting to logind, as in upstream. */
export const LOGIND_RETRY_MS = 1000;
/** Pauses before each of the five checks of whether logind has applied the longer delay, as in upstream. */
export const INHIBIT_DELAY_CHECKS_MS = [0, 100, 200, 400, 800];
export const MAX_SHUTDOWN_RECORD_BYTES = 4096;
