/** NRI's removal marker: a key with this prefix removes the entry named by the rest of the key. */
const MARKER = '-';

/** Returns the key that removes the entry `key`. */
export const markRemoval = (key: string): string => `${MARKER}${key}`;

export const isRemoval = (key: string): boolean => key.startsWith(MARKER);

/** Returns the key of the entry removed by a marked key. */
export const removedKey = (key: string): string => key.slice(MARKER.length);
