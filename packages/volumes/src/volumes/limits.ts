/** Timeout for mounting, so that an unresponsive file system does not block its pod forever. */
export const MOUNT_TIMEOUT_MS = 60_000;
