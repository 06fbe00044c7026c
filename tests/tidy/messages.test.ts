/** Holds what messages promise: a command that one names exists, and a wire of metrics that is built is connected. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createProgram } from '../../packages/cli/src/program.ts';
import { read, shipped } from './source-tree.ts';

/** The file without its comments. */
const codeOf = (path: string) => read(path).replaceAll(/\/\*[\s\S]*?\*\/|(?<![:'"`\\])\/\/.*$/gm, '');

/** `podwright` and the words after it that could be commands. */
const NAMED = /\bpodwright ([a-z]+(?:-[a-z]+)?)(?: ([a-z]+))?/g;
/** What follows the program's name as prose: "call podwright with sudo". */
const PROSE = ['with'];

function isCommand(program: ReturnType<typeof createProgram>, [name, below]: [string, string | undefined]): boolean {
  const command = program.commands.find((one) => one.name() === name);
  if (command === undefined) return false;
  return command.commands.length === 0 || below === undefined || command.commands.some((one) => one.name() === below);
}

test('every command that a message names exists', () => {
  const program = createProgram(() => undefined);
  const named = shipped.flatMap((path) =>
    [...codeOf(path).matchAll(NAMED)].map(([text, name, below]) => ({ path, text, name: name!, below })),
  );
  assert.ok(named.length > 20, `messages that name commands are found: ${named.length}`);
  const wrong = named.filter(({ name, below }) => !PROSE.includes(name) && !isCommand(program, [name, below]));
  assert.deepEqual(
    wrong.map(({ path, text }) => `${path}: ${text}`),
    [],
  );
});

test('where a package takes a registry of metrics, a daemon hands it one', () => {
  const takes = shipped.filter((path) => /\bmetrics\?: Registry\b/.test(read(path)));
  const daemons = shipped.filter((path) => path.startsWith('packages/cli/src/daemon/')).map(codeOf);
  const handed =
    daemons.some((code) => /\bnew Registry\(/.test(code)) && daemons.some((code) => /\bmetrics\b/.test(code));
  assert.deepEqual(handed ? [] : takes, []);
});
