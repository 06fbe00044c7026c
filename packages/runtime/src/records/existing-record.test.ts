import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorCode, errorMessage } from '@podwright/base';
import { existingRecordPolicy } from './existing-record.ts';

const config = { labels: { a: 'b' }, hostname: 'web' };
const record = (phase: string) => ({ id: 'x', name: 'n', config, state: { phase } });
const phases = { unfinished: ['creating', 'broken'], finished: 'ready' };

const decide = (phase: string | undefined, wanted = config) =>
  existingRecordPolicy(phase === undefined ? undefined : record(phase), { attempted: 'run n', config: wanted }, phases);

test('a retry returns what the earlier call finished, and clears what it could not roll back', () => {
  const check = (phase: string | undefined, kind: string) => assert.equal(decide(phase).kind, kind, phase);
  check(undefined, 'create');
  check('ready', 'return');
  check('broken', 'clear');
  check('creating', 'clear');
  assert.equal(decide('ready', structuredClone(config)).kind, 'return');
});

test('a record that was stopped, or is of another configuration, keeps its name', () => {
  const check = (phase: string, wanted: typeof config, message: RegExp) =>
    assert.throws(
      () => decide(phase, wanted),
      (error) => errorCode(error) === 'already_exists' && message.test(errorMessage(error)),
    );
  check('stopped', config, /^run n: x has this name and is stopped; remove it/);
  check('removing', config, /is removing/);
  check('ready', { ...config, labels: { a: 'c' } }, /^run n: x has this name and was made with another labels\.a$/);
});
