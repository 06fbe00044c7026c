/** Timeout for D-Bus method calls, the same as D-Bus's default. */
export const DBUS_TIMEOUT_MS = 25_000;
/** Maximum length of a D-Bus message. The protocol allows 128 MiB, but messages to the kubelet are much smaller. */
export const MAX_DBUS_MESSAGE_BYTES = 1 << 20;
