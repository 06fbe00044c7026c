/** A file system that does not answer must not hold up its pod for ever. */
export const MOUNT_TIMEOUT_MS = 60_000;
