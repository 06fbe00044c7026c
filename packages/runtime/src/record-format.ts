/**
 * Version of the format of the container runtime's records: its tables, and the files of images, networks and tasks. Must be incremented
 * when the previous version of Podwright can no longer read the records; that version then refuses to start.
 */
export const RUNTIME_FORMAT = 1;
