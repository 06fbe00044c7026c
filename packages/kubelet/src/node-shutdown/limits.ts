/** Node shutdown timeouts and limits; not configurable. */

/** Pause before reconnecting to logind, as in upstream. */
export const LOGIND_RETRY_MS = 1000;
/** Delays before each of the five checks of whether logind has applied the raised InhibitDelayMax, as in upstream. */
export const INHIBIT_DELAY_CHECKS_MS = [0, 100, 200, 400, 800];
export const MAX_SHUTDOWN_RECORD_BYTES = 4096;
