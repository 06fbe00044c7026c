/** Fixed timeouts and limits of the node shutdown. */

/** Pause before a lost connection to logind is retried, as in upstream. */
export const LOGIND_RETRY_MS = 1000;
/** D-Bus's default timeout of a call. */
export const DBUS_TIMEOUT_MS = 25_000;
/** Maximum message length. Messages to the kubelet are much smaller; the protocol allows 128 MiB. */
export const MAX_DBUS_MESSAGE_BYTES = 1 << 20;
/** Pauses before the checks whether logind has applied the longer delay: five checks, as in upstream. */
export const INHIBIT_DELAY_CHECKS_MS = [0, 100, 200, 400, 800];
export const MAX_SHUTDOWN_RECORD_BYTES = 4096;
