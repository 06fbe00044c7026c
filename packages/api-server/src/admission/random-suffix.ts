import { randomInt } from 'node:crypto';

/** Letters and digits that cannot form words (apimachinery, util/rand). */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';

/** Returns the random suffix of a generated name. */
export const randomSuffix = (): string =>
  Array.from({ length: 5 }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
