/** Checks messages and wiring: commands mentioned exist, printed text is escaped, and metrics registries are connected. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createProgram } from '../../packages/cli/src/program.ts';
import { read, shipped } from './source-tree.ts';

/** Returns a file's content without comments. */
const codeOf = (path: string) => read(path).replaceAll(/\/\*[\s\S]*?\*\/|(?<![:'"`\\])\/\/.*$/gm, '');

/** `podwright` and the following words, which may be commands. */
const NAMED = /\bpodwright ([a-z]+(?:-[a-z]+)?)(?: ([a-z]+))?/g;
/** Words that follow the program's name as prose: "call podwright with sudo". */
const PROSE = ['with'];

function isCommand(program: ReturnType<typeof createProgram>, [name, below]: [string, string | undefined]): boolean {
  const command = program.commands.find((one) => one.name() === name);
  if (command === undefined) return false;
  return command.commands.length === 0 || below === undefined || command.commands.some((one) => one.name() === below);
}

test('every command named in a message exists', () => {
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

/** A number with a noun in a template: `${count} pods`. */
const NUMBERED =
  /\$\{[^{}]*(?:length|count|size|running|others)[^{}]*\} (?:other )?(?:pods|objects|containers|images|files|times|lines|records|problems|layers|names|warnings)\b/i;
/** Phrases with numbers that are limits, and so never one. */
const OVER_A_LIMIT = /\b(?:more than|at most|cannot all|once)\b/;

test('numbers with nouns in messages are formatted by `counted`, which handles the singular', () => {
  assert.match('\u0024{pods.length} pods go on', NUMBERED);
  const wrong = shipped.flatMap((path) =>
    codeOf(path)
      .split('\n')
      .filter((line) => line.search(NUMBERED) >= 0 && !OVER_A_LIMIT.test(line))
      .map((line) => `${path}: ${line.trim()}`),
  );
  assert.deepEqual(wrong, []);
});

/** Functions that print text unescaped. The escaping ones are in output/terminal-text.ts. */
const RAW_PRINT = /\b(?:console\.(?:log|error|warn|info)|process\.std(?:out|err)\.write)\(/;
/** Files that may print external text unescaped, and the reasons. */
const RAW_PRINTERS: Record<string, string> = {
  'packages/cli/src/output/terminal-text.ts': 'it escapes',
  'packages/cli/src/output/format.ts': 'JSON, YAML and tables, which are escaped',
  'packages/cli/src/commands/logs.ts': 'logs are printed unchanged, as by kubectl',
  'packages/cli/src/run/log-follower.ts': 'the same',
  'packages/cli/src/run/run-ending.ts': 'explanations, which are escaped line by line and then coloured',
};
/** A literal without interpolated values. */
const LITERAL = /\((?:'[^']*'|"[^"]*"|`[^`$]*`|\s*$)/;

test('commands print only literals or escaped text', () => {
  const raw = shipped
    .filter((path) => /^packages\/cli\/src\/(?:commands|output|run)\//.test(path) && !(path in RAW_PRINTERS))
    .flatMap((path) => {
      const lines = codeOf(path)
        .split('\n')
        .filter((line) => RAW_PRINT.test(line));
      const unsafe = lines.filter(
        (line) => !LITERAL.test(line) && !/terminalJson|terminalYaml|escape(?:Line|Terminal)/.test(line),
      );
      return unsafe.map((line) => `${path}: ${line.trim()}`);
    });
  assert.deepEqual(raw, []);
});

test('a daemon passes a metrics registry to each package that accepts one', () => {
  const takes = shipped.filter((path) => /\bmetrics\?: Registry\b/.test(read(path)));
  const daemons = shipped.filter((path) => path.startsWith('packages/cli/src/daemon/')).map(codeOf);
  const handed =
    daemons.some((code) => /\bnew Registry\(/.test(code)) && daemons.some((code) => /\bmetrics\b/.test(code));
  assert.deepEqual(handed ? [] : takes, []);
});
