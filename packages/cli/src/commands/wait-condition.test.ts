import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@podwright/kube-api';
import { meets, parseWaitCondition } from './wait-condition.ts';

const pod = {
  kind: 'Pod',
  metadata: { name: 'web' },
  status: { phase: 'Running', podIP: '', conditions: [{ type: 'Ready', status: 'False' }] },
} as unknown as Pod;

test('wait accepts kubectl’s conditions', () => {
  const check = (text: string, expected: boolean) => assert.equal(meets(pod, parseWaitCondition(text)), expected, text);
  check('condition=Ready', false);
  check('condition=ready=false', true);
  check('condition=Other', false);
  check('delete', false);
  check('create', true);
  check('Delete', false);
  check('Create', true);
  check('jsonpath={.status.phase}=Running', true);
  check('jsonpath={.status.phase}="Running"', true);
  check('jsonpath={.status.phase}= Running ', true);
  check("jsonpath='{.status.phase}'=Failed", false);
  check('jsonpath=.status.phase=Running', true);
  check('jsonpath={.status.nothing}', false);
  check('jsonpath={.status.phase}', true);
  check('jsonpath={.status.conditions[?(@.type=="Ready")].status}=False', true);
});

test('an invalid condition is refused', () => {
  for (const text of ['', 'Ready', 'condition=', 'jsonpath=', 'jsonpath={.a', 'jsonpath={.a}='])
    assert.throws(() => parseWaitCondition(text), { code: 'invalid_argument' }, text);
});
