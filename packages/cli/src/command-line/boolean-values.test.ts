import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Command } from 'commander';
import { createProgram } from '../program.ts';

test('boolean options accept =true and =false, as in kubectl', () => {
  const options = (verb: string, ...args: string[]) => {
    const program = createProgram(() => {});
    const command = program.commands.find((one) => one.name() === verb) as Command;
    const { operands } = command.parseOptions(args);
    return { ...command.opts(), operands };
  };
  const check = (args: string[], expected: object) => {
    const actual = options('delete', 'web', ...args) as Record<string, unknown>;
    for (const [key, value] of Object.entries(expected)) assert.deepEqual(actual[key], value, `${args}: ${key}`);
  };
  check(['--wait=false', '--force=true'], { wait: false, force: true });
  check(['--wait=true', '--ignore-not-found=false'], { wait: undefined, ignoreNotFound: undefined });
  check(['--selector=true'], { selector: 'true' });
  check(['-n=team', '-l=a=b', '-A=false', '-f=-'], { namespace: 'team', selector: 'a=b', filename: ['-'] });
  check(['-lapp=web', '-RA=true'], { selector: 'app=web', recursive: true, allNamespaces: true });
  check(['-RA=false'], { recursive: true, allNamespaces: undefined });
  assert.deepEqual(options('exec', 'web', '--stdin=true', '--', 'x', '--tty=true'), {
    namespace: 'default',
    stdin: true,
    operands: ['web', 'x', '--tty=true'],
  });
});
