import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  bitString,
  contextTag,
  der,
  integer,
  objectIdentifier,
  octetString,
  readAll,
  readObjectIdentifier,
  sequence,
  set,
  TAG,
  TRUE,
  time,
} from './der.ts';

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');

test('values are encoded as specified by X.690', () => {
  const check = (value: Buffer, expected: string) => assert.deepEqual(value, hex(expected));
  check(TRUE, '01 01 ff');
  check(integer(hex('02')), '02 01 02');
  check(integer(hex('80')), '02 02 00 80');
  check(bitString(hex('84'), 2), '03 02 02 84');
  check(octetString(hex('0102')), '04 02 01 02');
  check(sequence(TRUE, integer(hex('00'))), '30 06 01 01 ff 02 01 00');
  check(set(), '31 00');
  check(der(contextTag(3), TRUE), 'a3 03 01 01 ff');
  check(der(contextTag(7, false), hex('c0000201')), '87 04 c0 00 02 01');
  check(objectIdentifier('1.2.840.10045.4.3.2'), '06 08 2a 86 48 ce 3d 04 03 02');
  check(time(new Date('2049-12-31T23:59:59.999Z')), '17 0d 34 39 31 32 33 31 32 33 35 39 35 39 5a');
  check(time(new Date('2050-01-01T00:00:00Z')), '18 0f 32 30 35 30 30 31 30 31 30 30 30 30 30 30 5a');
});

test('lengths are encoded in as few bytes as possible, and round-trip', () => {
  const heads = { 127: '7f', 128: '81 80', 255: '81 ff', 256: '82 0100', 65535: '82 ffff', 65536: '83 010000' };
  for (const [length, head] of Object.entries(heads)) {
    const content = Buffer.alloc(Number(length), 1);
    const whole = octetString(content);
    assert.deepEqual(whole, Buffer.concat([hex(`04 ${head}`), content]));
    assert.deepEqual(readAll(Buffer.concat([whole, TRUE])), [
      { tag: TAG.octetString, content, whole },
      { tag: TAG.boolean, content: hex('ff'), whole: TRUE },
    ]);
  }
});

test('object identifiers round-trip', () => {
  for (const dotted of ['0.39', '1.3.101.112', '1.2.840.113549.1.1.11', '2.5.29.17', '2.999.3', '1.3.4294967295'])
    assert.equal(readObjectIdentifier(readAll(objectIdentifier(dotted))[0]!), dotted);
});

test('bytes that are not DER are refused', () => {
  const check = (bytes: string, message: RegExp) =>
    assert.throws(() => readAll(hex(bytes)), { code: 'invalid_argument', message });
  assert.deepEqual(readAll(hex('')), []);
  check('30', /the length of a value is cut off/);
  check('30 82 01', /the length of a value is cut off/);
  check('30 02 01', /a value is cut off/);
  check('05 00 30 01', /a value is cut off/);
  check('30 80 00 00', /indefinite or too great/);
  check('04 85 00 00 00 00 01 00', /indefinite or too great/);
  check('04 81 01 00', /not the shortest form/);
  check(`04 82 00 80 ${'00'.repeat(0x80)}`, /not the shortest form/);
  check('1f 81 01 00', /tags of several bytes are not supported/);
});
