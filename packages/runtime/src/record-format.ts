/**
 * Version of the format of the runtime's records: its tables, and the files of images, networks and tasks. Increment it when the previous
 * version can no longer read the records; that version then refuses to start.
 */
export const RUNTIME_FORMAT = 1;
