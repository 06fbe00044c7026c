/** The version of all packages. */
export const VERSION = '0.1.0';

/** The name by which Podwright's runtime answers the CRI's Version. */
export const RUNTIME_NAME = 'podwright';
