/**
 * Format version of the container runtime's records: its tables, and the files of images, networks and tasks. Must be incremented for
 * changes that the previous version of Podwright cannot read, so that it refuses to start.
 */
export const RUNTIME_FORMAT = 1;
