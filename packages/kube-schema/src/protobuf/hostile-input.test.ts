import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Schema } from '../schema/schema.ts';
import { decodeObject } from './object-codec.ts';

const schema = await Schema.load();

const field = (number: number, bytes: Uint8Array): Buffer => {
  const length: number[] = [];
  let rest = bytes.length;
  for (; rest > 0x7f; rest >>= 7) length.push((rest & 0x7f) | 0x80);
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...length, rest]), bytes]);
};
const hex = (digits: string) => Buffer.from(digits.replaceAll(' ', ''), 'hex');

const fallback = { apiVersion: 'v1', kind: 'Pod' };
/** Decodes a pod from its encoded message. The message starts at byte 6 of the input if it is shorter than 128 bytes. */
const decode = (message: Uint8Array, kind = fallback) =>
  decodeObject(schema, Buffer.concat([hex('6b387300'), field(2, message)]), { fallback: kind });

function refuse(digits: string, message: RegExp): void {
  assert.throws(() => decode(hex(digits)), { code: 'invalid_argument', message });
}

describe('malformed bytes', () => {
  it('are refused with the offset', () => {
    refuse('0a', /^decode protobuf at byte 7: unexpected end$/);
    refuse('0a 05 01', /at byte 7: a length of 5 is more than the 1 bytes that follow/);
    refuse('0a ff ff ff ff ff ff ff ff ff 01', /a length of 18446744073709552000 is more/);
    refuse('0a ff ff ff ff ff ff ff ff ff ff ff', /at byte 7: a number has more than 10 bytes/);
    refuse('00', /at byte 6: 0 is no field number/);
    refuse('0f', /wire type 7/);
    refuse('08 01', /field 1 \(metadata\) has the wire type 0 instead of 2/);
    refuse('f9 07 01', /unexpected end/);
  });

  it('are refused in the envelope', () => {
    assert.throws(() => decodeObject(schema, new Uint8Array()), {
      message: /at byte 0: the bytes do not begin with "k8s"/,
    });
    assert.throws(() => decodeObject(schema, hex('6b387300 0a05')), { message: /at byte 5: a length of 5/ });
  });

  it('are refused where JSON is expected', () => {
    const revision = { apiVersion: 'apps/v1', kind: 'ControllerRevision' };
    assert.throws(() => decode(field(2, field(1, Buffer.from('{"a":'))), revision), {
      message: /at byte \d+: no JSON/,
    });
  });
});

describe('unknown fields', () => {
  it('of all wire types are skipped', () => {
    const unknown = 'f8 07 01  f9 07 01 02 03 04 05 06 07 08  fa 07 01 00  fb 07 08 01 fc 07  fd 07 01 02 03 04';
    assert.deepEqual(decode(hex(unknown)), decode(hex('')));
    refuse('fb 07 08 01 f4 07', /group 127 ends as 126/);
    refuse('fb 07'.repeat(102), /groups are more than 100 deep/);
  });
});

describe('bounds', () => {
  it('are on the depth of messages', () => {
    const crd = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' };
    // `field` encodes one-byte tags only, but the tag of field 28 takes two bytes
    const nest = (inner: Buffer) => Buffer.concat([hex('e201'), field(1, inner).subarray(1)]);
    let nested: Buffer = Buffer.alloc(0);
    for (let depth = 0; depth < 120; depth++) nested = nest(nested);
    const version = field(4, field(1, nested));
    assert.throws(() => decode(field(2, field(7, version)), crd), { message: /messages are more than 100 deep/ });
  });

  it('are on the number of values', () => {
    const containers = field(2, Buffer.concat(Array.from({ length: 300_000 }, () => hex('12 00'))));
    assert.throws(() => decode(containers), { message: /the object has more than 500000 values/ });
  });
});
