import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { OBJECT_KINDS } from '../client/object-names.ts';
import { createProgram } from '../program.ts';
import { settingsText } from './settings.ts';
import { showHelp, TOPIC_NAMES } from './show-help.ts';
import { TOPICS } from './topics.ts';

const program = createProgram(() => undefined);

test('each topic fits on a screen, and is listed on the first page', () => {
  for (const [name, { text }] of Object.entries(TOPICS)) {
    const lines = text.trimEnd().split('\n');
    assert.ok(lines.length <= 24, `${name} has ${lines.length} lines`);
    for (const line of lines) assert.ok(line.length <= 80, `${name}: ${line}`);
  }
  const page = program.helpInformation();
  for (const name of TOPIC_NAMES) {
    assert.ok(page.includes(name), name);
    assert.ok(!program.commands.some((command) => command.name() === name), `${name} is a command`);
  }
});

test('the help of get lists every kind of object', () => {
  const help = program.commands.find((command) => command.name() === 'get')!.description();
  for (const { plural } of OBJECT_KINDS) assert.match(help, new RegExp(`\\b${plural}\\b`));
});

test('the help of the daemons lists all global options', () => {
  const settings = settingsText(program);
  for (const { long } of program.options) if (long !== '--version') assert.ok(settings.includes(`${long} `), long);
  for (const name of ['node', 'runtime', 'kubelet']) {
    let shown = '';
    const command = program.commands.find((one) => one.name() === name)!;
    command.configureOutput({ writeOut: (text) => (shown += text) }).outputHelp();
    assert.ok(shown.includes(settings), name);
  }
});

test('the text after a command’s options fits in 80 columns', () => {
  for (const command of program.commands) {
    let shown = '';
    command.configureOutput({ writeOut: (text) => (shown += text), getOutHelpWidth: () => 80 }).outputHelp();
    const prose = shown.split('\n').filter((line) => /^\w/.test(line) && !line.startsWith('Usage:'));
    for (const line of prose) assert.ok(line.length <= 80, `${command.name()}: ${line}`);
  }
});

test('an unknown topic is refused with the list of topics', () => {
  assert.throws(() => showHelp(program, 'nothing'), { code: 'invalid_argument', message: /topics are manifests, / });
});

test('the manual page covers every command and topic', (t) => {
  const directory = mkdtempSync('/tmp/man-page-');
  t.after(() => rmSync(directory, { recursive: true }));
  const script = new URL('../../../../scripts/man-page.ts', import.meta.url).pathname;
  execFileSync(process.execPath, [script, join(directory, 'podwright.1')]);
  const page = readFileSync(join(directory, 'podwright.1'), 'utf8');
  for (const command of program.createHelp().visibleCommands(program))
    assert.match(page, new RegExp(`^\\.B ${command.name().replaceAll('-', '\\\\-')}\\b`, 'm'));
  for (const name of Object.keys(TOPICS)) assert.ok(page.includes(`.SH ${name.replaceAll('-', ' ').toUpperCase()}\n`));
});
