/** Fixed timeouts and limits of node shutdowns. */

/** Pause before reconnecting to logind, as in upstream. */
export const LOGIND_RETRY_MS = 1000;
/** D-Bus's default timeout for calls. */
export const DBUS_TIMEOUT_MS = 25_000;
/** Maximum length of a message. The protocol allows 128 MiB, but messages to the kubelet are much smaller. */
export const MAX_DBUS_MESSAGE_BYTES = 1 << 20;
/** Pauses before each of the five checks whether logind has applied the longer delay, as in upstream. */
export const INHIBIT_DELAY_CHECKS_MS = [0, 100, 200, 400, 800];
export const MAX_SHUTDOWN_RECORD_BYTES = 4096;
