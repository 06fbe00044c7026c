/** The host's shutdown: timers and bounds that are not options, with their sources. */

/** Upstream's pause before a connection to logind that was lost is tried again. */
export const LOGIND_RETRY_MS = 1000;
/** D-Bus's own bound of a call. */
export const DBUS_TIMEOUT_MS = 25_000;
/** Nobody sends a kubelet more than this; the protocol would let them send 128 MiB. */
export const MAX_DBUS_MESSAGE_BYTES = 1 << 20;
/** Pauses before looking whether logind has taken a longer delay: upstream's, five looks in all. */
export const INHIBIT_DELAY_LOOKS_MS = [0, 100, 200, 400, 800];
export const MAX_SHUTDOWN_RECORD_BYTES = 4096;
