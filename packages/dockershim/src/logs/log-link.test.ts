import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { engineLogPath, linkLog, unlinkLog } from './log-link.ts';

const scratch = mkdtempSync(join(tmpdir(), 'pwd-link-'));
after(() => rmSync(scratch, { recursive: true }));

const target = '/engine/containers/c/c-json.log';

test('a container’s log path is the Engine’s current or future one', () => {
  const container = (Type: string, LogPath = '') => ({
    Id: 'c',
    LogPath,
    HostConfig: { LogConfig: { Type } } as never,
  });
  assert.equal(engineLogPath(container('json-file'), '/engine'), target);
  assert.equal(engineLogPath(container('json-file', '/elsewhere/x.log'), '/engine'), '/elsewhere/x.log');
  for (const driver of ['journald', 'local', 'none', ''])
    assert.equal(engineLogPath(container(driver), '/engine'), undefined);
});

test('a link replaces an existing file without leaving a temporary file', async () => {
  const link = join(scratch, 'pod/c/0.log');
  await linkLog(link, target);
  await linkLog(link, target);
  rmSync(link);
  writeFileSync(link, 'of another runtime');
  await linkLog(link, target);
  assert.equal(readlinkSync(link), target);
  await linkLog(link, '/engine/containers/d/d-json.log');
  assert.deepEqual(readdirSync(join(scratch, 'pod/c')), ['0.log']);
  mkdirSync(join(scratch, 'taken'));
  await assert.rejects(linkLog(join(scratch, 'taken'), target), /link the log .*taken/);
  assert.deepEqual(readdirSync(scratch).sort(), ['pod', 'taken']);
});

test("only the container's own link is removed", async () => {
  const link = join(scratch, 'l');
  await unlinkLog(link, 'c');
  writeFileSync(link, '');
  await unlinkLog(link, 'c');
  rmSync(link);
  symlinkSync('/etc/passwd', link);
  await unlinkLog(link, 'c');
  assert.equal(readlinkSync(link), '/etc/passwd');
  await linkLog(link, target);
  await unlinkLog(link, 'd');
  assert.equal(readlinkSync(link), target);
  await unlinkLog(link, 'c');
  assert.throws(() => readlinkSync(link), /ENOENT/);
});
