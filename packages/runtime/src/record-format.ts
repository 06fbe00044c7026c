/**
 * The format of the runtime's records: its tables, and the files of images, networks and tasks. Increase it when the version before could
 * not read the records any more; a start of that version is then refused.
 */
export const RUNTIME_FORMAT = 1;
