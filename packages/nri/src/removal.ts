/** NRI's removal marker: a key with this prefix removes the entry that has the rest of the key. */
const MARKER = '-';

/** Returns the key that removes the entry `key`. */
export const markRemoval = (key: string): string => `${MARKER}${key}`;

export const isRemoval = (key: string): boolean => key.startsWith(MARKER);

/** Returns the entry that a marked key removes. */
export const removedKey = (key: string): string => key.slice(MARKER.length);
