/** Timeout for mounting. An unresponsive file system must not block its pod forever. */
export const MOUNT_TIMEOUT_MS = 60_000;
