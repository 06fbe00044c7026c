import { randomInt } from 'node:crypto';

/** Letters and digits that form no words (apimachinery, util/rand). */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';

/** The suffix of a generated name. */
export const randomSuffix = (): string =>
  Array.from({ length: 5 }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
