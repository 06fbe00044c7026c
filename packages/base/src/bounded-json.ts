import { PodwrightError } from './errors.ts';

const OPENING_BRACKET = 0x5b;
const OPENING_BRACE = 0x7b;
const COMMA = 0x2c;

/**
 * Parses JSON from another program, like `JSON.parse`, whose time and memory depend on the number of values rather than bytes: 16 MiB of
 * brackets take seconds and half a gigabyte. Throws `resource_exhausted` if the text may have more than `maxValues` values; commas and
 * brackets in strings count, too.
 */
export function parseBoundedJson(text: Buffer, maxValues: number): unknown {
  let values = 1;
  for (let index = 0; index < text.length; index++) {
    const byte = text[index];
    if (byte !== COMMA && byte !== OPENING_BRACKET && byte !== OPENING_BRACE) continue;
    values += 1;
    if (values > maxValues)
      throw new PodwrightError('resource_exhausted', `the JSON text has more than ${maxValues} values`);
  }
  return JSON.parse(text.toString());
}
