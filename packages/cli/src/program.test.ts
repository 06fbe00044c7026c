import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createProgram } from './program.ts';

const namesOf = (...words: string[]) => createProgram(() => undefined, words).commands.map((one) => one.name());
const all = namesOf();

test('only the group of the called command is created, or all if none is called', () => {
  for (const name of all) {
    const names = namesOf('--state', 'get', '--root=/x', name, 'web');
    assert.ok(names.includes(name), name);
    assert.equal(names.length < all.length / 2, !['help', 'completion', '__complete'].includes(name), name);
  }
  for (const words of [['pss'], ['--help'], ['-h'], ['--config'], ['--', 'ps'], ['rm', 'ps']])
    assert.deepEqual(namesOf(...words), all, words.join(' '));
});
