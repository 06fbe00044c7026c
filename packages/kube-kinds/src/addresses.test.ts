import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  cidrWarnings,
  ipWarnings,
  validateCanonicalCidr,
  validateCanonicalIp,
  validateLegacyCidr,
  validateLegacyIp,
} from './address-rules.ts';
import { cidrContains, parseCidr, parseIp } from './addresses.ts';
import type { FieldError } from './field-error.ts';

const NO_IP = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
const NO_CIDR = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';
const ZEROS = 'must not have leading 0s';
const MAPPED = 'must not be an IPv4-mapped IPv6 address';

type Rule = (field: string, value: string) => FieldError[];

/** Asserts which problem the rule finds in each value; `undefined` means that the value is valid. */
function check(rule: Rule, cases: Record<string, string | undefined>): void {
  for (const [value, problem] of Object.entries(cases)) {
    const messages = problem === undefined ? [] : [`Invalid value: ${JSON.stringify(value)}: ${problem}`];
    assert.deepEqual(
      rule('ip', value).map(({ message }) => message),
      messages,
    );
  }
}

describe('an address', () => {
  it('is valid in any form in old fields', () => {
    const valid = [
      '1.2.3.4',
      '0.0.0.0',
      '::1',
      '2a00:79e0:2:0:f1c3:e797:93c1:df80',
      '::',
      'FE80::ABC',
      '::fff:1.2.3.4',
    ];
    const invalid = [
      '',
      'a',
      '256.1.1.1',
      '1.2.3',
      '1.2.3.4.5',
      '1:2:3',
      ':1',
      '1::2::3',
      '::ffff:1.2.3',
      'fe80::1%eth0',
    ];
    invalid.push(
      '1:2:3:4::5:6:7:8',
      '1:2:3:4:5:6:7::8:9',
      'myhost.mydomain',
      '-1.0.0.0',
      ' 1.2.3.4',
      '1:2:3:4:5:6:7:8:',
      '1'.repeat(100),
    );
    check(validateLegacyIp, {
      ...Object.fromEntries(valid.map((value) => [value, undefined])),
      ...Object.fromEntries(invalid.map((value) => [value, NO_IP])),
      '1.002.3.4': ZEROS,
      '::ffff:1.2.3.4': MAPPED,
      '::ffff:0102:0304': MAPPED,
      '::00001': ZEROS,
    });
  });

  it('is accepted if the old object has it', () => {
    assert.deepEqual(validateLegacyIp('ip', '010.0.0.1', ['010.0.0.1']), []);
    assert.deepEqual(validateLegacyCidr('cidr', '10.0.0.1/8', ['10.0.0.1/8']), []);
  });

  it('is canonical in new fields', () => {
    check(validateCanonicalIp, {
      '1.2.3.4': undefined,
      '2001:db8::1': undefined,
      '2001:DB8::1': 'must be in canonical form ("2001:db8::1")',
      '1:0:0:0:2:0:0:3': 'must be in canonical form ("1::2:0:0:3")',
      '1:2:3:4:5:6:0:7': undefined,
      '0:0:0:0:0:0:0:0': 'must be in canonical form ("::")',
      '01.2.3.4': ZEROS,
    });
  });

  it('has warnings if it is not canonical', () => {
    assert.deepEqual(ipWarnings('ip', '2001:db8:0::1'), [
      'ip: IPv6 address "2001:db8:0::1" should be in RFC 5952 canonical format ("2001:db8::1")',
    ]);
    assert.deepEqual(ipWarnings('ip', '010.1.1.1'), [
      'ip: non-standard IP address "010.1.1.1" is invalid: use "10.1.1.1"',
    ]);
    assert.deepEqual(ipWarnings('ip', '10.1.1.1'), []);
  });
});

describe('a block of addresses', () => {
  it('has an address and a length', () => {
    check(validateLegacyCidr, {
      ...{
        '1.0.0.0/10': undefined,
        '::/0': undefined,
        '0.0.0.0/0': undefined,
        '1.2.3.4/32': undefined,
        '::1/128': undefined,
        '2001:0DB8::/32': undefined,
      },
      ...{
        '': NO_CIDR,
        '1.0.0.0': NO_CIDR,
        '1.0.0.0/': NO_CIDR,
        '1.0.0.0/33': NO_CIDR,
        '::/129': NO_CIDR,
        'a/8': NO_CIDR,
      },
      ...{ '1.0.0.0/-1': NO_CIDR, '1.0.0/8': NO_CIDR, '1.0.0.0/8/9': NO_CIDR },
      '1.0.0.1/10': 'must not have bits set beyond the prefix length',
      '1.0.0.0/010': 'must not have leading 0s in IP or prefix length',
      '::ffff:1.0.0.0/104': 'must not have an IPv4-mapped IPv6 address',
    });
    check(validateCanonicalCidr, {
      '10.0.0.0/8': undefined,
      '2001:0db8::/32': 'must be in canonical form ("2001:db8::/32")',
    });
  });

  it('contains addresses of its family', () => {
    const contains = (cidr: string, ip: string) => cidrContains(parseCidr(cidr)!, parseIp(ip)!);
    assert.equal(contains('10.0.0.0/8', '10.255.0.1'), true);
    assert.equal(contains('10.0.0.0/8', '11.0.0.1'), false);
    assert.equal(contains('0.0.0.0/0', '::1'), false);
    assert.equal(contains('fe80::/10', 'febf::1'), true);
  });

  it('has warnings if it is not canonical', () => {
    assert.deepEqual(cidrWarnings('cidr', '10.0.0.1/8'), [
      'cidr: CIDR value "10.0.0.1/8" is ambiguous in this context (should be "10.0.0.0/8" or "10.0.0.1/32"?)',
    ]);
    assert.deepEqual(cidrWarnings('cidr', '::ffff:10.0.0.0/104'), [
      'cidr: non-standard CIDR value "::ffff:10.0.0.0/104" is invalid: use "10.0.0.0/8"',
    ]);
    assert.deepEqual(cidrWarnings('cidr', '2001:db8:0::/48'), [
      'cidr: IPv6 CIDR value "2001:db8:0::/48" should be in RFC 5952 canonical format ("2001:db8::/48")',
    ]);
    assert.deepEqual(cidrWarnings('cidr', '10.0.0.0/8'), []);
  });
});
