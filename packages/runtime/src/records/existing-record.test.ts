import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorCode, errorMessage } from '@podwright/base';
import { existingRecordPolicy } from './existing-record.ts';

const config = { labels: { a: 'b' }, hostname: 'web' };
const record = (phase: string) => ({ id: 'x', name: 'n', config, state: { phase } });
const phases = { unfinished: ['creating', 'broken'], finished: 'ready' };

const decide = (phase: string | undefined, requested = config) =>
  existingRecordPolicy(
    phase === undefined ? undefined : record(phase),
    { attempted: 'run n', config: requested },
    phases,
  );

test('a retry returns the record of a completed call, and clears that of an incomplete one', () => {
  const check = (phase: string | undefined, kind: string) => assert.equal(decide(phase).kind, kind, phase);
  check(undefined, 'create');
  check('ready', 'return');
  check('broken', 'clear');
  check('creating', 'clear');
  assert.equal(decide('ready', structuredClone(config)).kind, 'return');
});

test('the name of a stopped record, or of one with a different configuration, is taken', () => {
  const check = (phase: string, requested: typeof config, message: RegExp) =>
    assert.throws(
      () => decide(phase, requested),
      (error) => errorCode(error) === 'already_exists' && message.test(errorMessage(error)),
    );
  check('stopped', config, /^run n: x has this name and is stopped; remove it/);
  check('removing', config, /is removing/);
  check('ready', { ...config, labels: { a: 'c' } }, /^run n: x has this name and was created with another labels\.a$/);
});
