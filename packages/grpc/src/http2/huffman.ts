import { undecodable } from './end-codes.ts';

/**
 * Lengths in bits of HPACK's Huffman codes (RFC 7541, Appendix B), one base-36 digit for each byte value from 0 to 255. The code is
 * canonical: the codes of one length are consecutive numbers in the order of their byte values, and follow the codes of the next shorter
 * length. So the lengths define the whole table.
 */
const CODE_LENGTHS =
  'dnsssssssoussussssssssusssssssss6aacd68baa8b8666555666666678f6ca' +
  'd67777777777777777777777878djde6f56565666577666567655677777fbeds' +
  'kmkkmmmnmnnnnnonoomnonnnnlmnmnnomlkmmnnlnmmolmnnllmlnmnnkmmmnmmn' +
  'qqkjmnmpqqqrrqopjlqrrqrollqqsrrrkoklmllnmmppooqnqrqqrrrrrsrrrrrq';

/** Length of the longest Huffman code: that of EOS, 30 ones, which must not appear in a string. */
const MAX_LENGTH = 30;

/** All Huffman codes of one length: the first code as a number, and the byte values that they encode, in order. */
type Group = { first: number; bytes: number[] };

const groups = canonicalGroups();

function canonicalGroups(): readonly Group[] {
  const byLength: Group[] = [];
  for (let length = 0, next = 0; length <= MAX_LENGTH; length++) {
    const digit = length.toString(36);
    const bytes = [...CODE_LENGTHS].flatMap((each, byte) => (each === digit ? [byte] : []));
    byLength.push({ first: next, bytes });
    next = (next + bytes.length) * 2;
  }
  return byLength;
}

/** Decodes a Huffman-coded string. Throws `invalid_argument` if it contains EOS or has wrong padding (RFC 7541, 5.2). */
export function decodeHuffman(input: Uint8Array): Buffer {
  const output = Buffer.allocUnsafe(Math.floor((input.length * 8) / 5)); // the shortest codes have 5 bits
  let size = 0;
  let code = 0;
  let length = 0;
  for (const octet of input) {
    for (let bit = 7; bit >= 0; bit--) {
      code = code * 2 + ((octet >> bit) & 1);
      length++;
      if (length > MAX_LENGTH) throw undecodable('no such Huffman code');
      const { first, bytes } = groups[length]!;
      const byte = bytes[code - first];
      if (byte === undefined) continue;
      output[size++] = byte;
      code = 0;
      length = 0;
    }
  }
  if (length > 7 || code !== 2 ** length - 1) {
    throw undecodable('wrong padding of a Huffman-coded string');
  }
  return output.subarray(0, size);
}
