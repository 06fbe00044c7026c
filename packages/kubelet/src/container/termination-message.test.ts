import assert from 'node:assert/strict';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type EndedContainer, terminationMessage } from './termination-message.ts';

let directory: string;
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'podwright-message-'));
});
after(() => rm(directory, { recursive: true }));

async function check(files: { message?: string; log?: string }, fields: Partial<EndedContainer>, expected: string) {
  const messagePath = join(directory, 'message');
  const logPath = join(directory, 'log');
  await writeFile(messagePath, files.message ?? '');
  await writeFile(logPath, files.log ?? '');
  const container: EndedContainer = { messagePath, logPath, policy: 'FallbackToLogsOnError', exitCode: 1, ...fields };
  assert.equal(await terminationMessage(container), expected);
}

const logLine = (text: string, tag = 'F') => `2026-01-01T00:00:00.000000000Z stderr ${tag} ${text}\n`;

test('the message file takes precedence over the log', () => check({ message: 'why', log: logLine('log') }, {}, 'why'));

test('the log is used only for failed containers with the policy FallbackToLogsOnError', async () => {
  const log = `${logLine('par', 'P')}${logLine('tial')}${logLine('end')}`;
  await check({ log }, {}, 'partial\nend\n');
  await check({ log }, { exitCode: 0 }, '');
  await check({ log }, { policy: 'File' }, '');
});

test('a log that was just rotated is continued from the rotated file', async () => {
  const rotated = join(directory, 'log.20260101-000000');
  await writeFile(rotated, `${logLine('why')}${logLine('half', 'P')}`);
  await check({ log: logLine(' and half') }, {}, 'why\nhalf and half\n');
  await check({ log: logLine('end').repeat(80) }, {}, 'end\n'.repeat(80));
  await check({ log: logLine('end').repeat(79) }, {}, `half${'end\n'.repeat(79)}`);
  await check({}, {}, 'why\nhalf');
  await rm(rotated);
});

test('message and log are limited, without splitting a character', async () => {
  await check({ message: `é${'x'.repeat(4095)}` }, {}, 'x'.repeat(4095));
  const lines = Array.from({ length: 100 }, (_, index) => logLine(`${index}`));
  const last80 = Array.from({ length: 80 }, (_, index) => `${index + 20}\n`).join('');
  await check({ log: lines.join('') }, {}, last80);
  await check({ log: logLine('y'.repeat(10_000)) }, {}, `${'y'.repeat(2047)}\n`);
});

test('missing files and symlinks yield no message', async () => {
  await check({}, { messagePath: '', logPath: join(directory, 'none') }, '');
  const link = join(directory, 'link');
  await symlink('/etc/passwd', link);
  await check({}, { messagePath: link }, '');
});
