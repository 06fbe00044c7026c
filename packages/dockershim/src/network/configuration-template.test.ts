import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parsePodCidrs } from './cni-plugin.ts';
import { renderTemplate } from './configuration-template.ts';

const values = { podCidrs: ['10.1.0.0/24', 'fd00::/64'], mtu: 1400, nonMasqueradeCidr: '10.0.0.0/8' };

test('template placeholders are filled in', () => {
  const check = (template: string, expected: string | undefined, given = values) =>
    assert.equal(renderTemplate(template, given), expected);
  check('{"subnet":"{{.PodCIDR}}","mtu":{{ .MTU }}}', '{"subnet":"10.1.0.0/24","mtu":1400}');
  check('{{.PodCIDRRanges}}', '[[{"subnet":"10.1.0.0/24"}],[{"subnet":"fd00::/64"}]]');
  check('{{.NonMasqueradeCIDR}}', '10.0.0.0/8');
  check('{"a":{"b":{}}}', '{"a":{"b":{}}}');
  check('{{.PodCIDR}}', undefined, { ...values, podCidrs: [] });
  check('{{.MTU}}', '1400', { ...values, podCidrs: [] });
});

test('an unknown template placeholder is an error that names it', () => {
  for (const name of ['.Node', 'range .Routes', '', 'toString'])
    assert.throws(() => renderTemplate(`{{${name}}}`, values), {
      code: 'invalid_argument',
      message: /is unknown: use/,
    });
});

test('there is one pod CIDR, or one per address family', () => {
  assert.deepEqual(parsePodCidrs('10.1.0.0/24'), ['10.1.0.0/24']);
  assert.deepEqual(parsePodCidrs('10.1.0.0/24, fd00::/64'), ['10.1.0.0/24', 'fd00::/64']);
  for (const text of [
    '',
    '10.1.0.0',
    '10.1.0.0/33',
    '10.1.0.0/24,',
    'fd00::/129',
    'a,b,c',
    '"}/24',
    '1.1.1.1/8,2.2.2.2/8,3.3.3.3/8',
  ])
    assert.throws(() => parsePodCidrs(text), { code: 'invalid_argument' }, text);
});
