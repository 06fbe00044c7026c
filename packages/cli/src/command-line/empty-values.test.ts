import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Command } from 'commander';
import { createProgram } from '../program.ts';

/** Parses `words` with a new command of this name and returns the command's options. */
function read(name: string, words: string[]): Record<string, unknown> {
  const command = createProgram(() => {}, [name]).commands.find((one) => one.name() === name) as Command;
  command.parseOptions(words);
  return command.opts();
}

test('every command treats an empty namespace or selector as unset', () => {
  const namespace = [['-n', ''], ['-n='], ['--namespace='], ['--namespace', '']];
  const selector = [['-l', ''], ['-l='], ['-l', ' '], ['--selector='], ['--selector', '']];
  for (const [key, forms] of Object.entries({ namespace, selector })) {
    const having = createProgram(() => {}).commands.filter(({ options }) =>
      options.some((option) => option.attributeName() === key),
    );
    assert.ok(having.length > 5);
    for (const command of having)
      for (const words of forms) {
        const message = `${command.name()} ${JSON.stringify(words)}`;
        assert.equal(read(command.name(), words)[key], read(command.name(), [])[key], message);
      }
  }
  assert.equal(read('delete', ['-l', '', '--all']).all, true);
});
