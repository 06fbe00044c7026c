import type { HeaderField } from './static-table.ts';

/** Encodes fields as literals without indexing (RFC 7541, 6.2.2), which neither use nor change the dynamic table. */
export function encodeLiterals(fields: readonly HeaderField[]): Buffer {
  return Buffer.concat(
    fields.flatMap(([name, value]) => [Buffer.of(0), ...encodeString(name), ...encodeString(value)]),
  );
}

function encodeString(text: string): Buffer[] {
  const bytes = Buffer.from(text, 'latin1');
  return [encodeLength(bytes.length), bytes];
}

/** Encodes an integer with a 7-bit prefix (RFC 7541, 5.1). */
function encodeLength(length: number): Buffer {
  if (length < 127) return Buffer.of(length);
  const octets = [127];
  let rest = length - 127;
  for (; rest >= 128; rest = Math.floor(rest / 128)) octets.push((rest % 128) | 0x80);
  octets.push(rest);
  return Buffer.from(octets);
}
