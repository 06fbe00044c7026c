import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Command } from 'commander';
import {
  dryRunOption,
  fileOption,
  pointInTime,
  positiveSeconds,
  signedSeconds,
  timeout,
  withDryRun,
} from './options.ts';

function parse(...args: string[]) {
  const command = new Command().argument('[file...]').addOption(dryRunOption('')).addOption(fileOption());
  command.parse(args, { from: 'user' });
  const { files, options } = withDryRun(command.args, command.opts());
  return { files, ...options };
}

test('--dry-run takes a mode as in kubectl, but does not consume the file after it', () => {
  const table: [string[], { files: string[]; dryRun: boolean; filename?: string[] }][] = [
    [['a.yaml'], { files: ['a.yaml'], dryRun: false }],
    [['--dry-run', 'a.yaml', 'b.yaml'], { files: ['a.yaml', 'b.yaml'], dryRun: true }],
    [['a.yaml', '--dry-run'], { files: ['a.yaml'], dryRun: true }],
    [['--dry-run=server', 'a.yaml'], { files: ['a.yaml'], dryRun: true }],
    [['--dry-run=none', 'a.yaml'], { files: ['a.yaml'], dryRun: false }],
    [['--dry-run', '-f', 'a,b', '-f', '-'], { files: [], dryRun: true, filename: ['a', 'b', '-'] }],
  ];
  for (const [args, expected] of table) assert.deepEqual(parse(...args), expected, args.join(' '));
});

test('durations are in kubectl’s format or plain seconds', () => {
  const table: [string, number][] = [
    ['30', 30_000],
    ['1.5s', 1500],
    ['1h30m', 5_400_000],
    ['1m1s500ms', 61_500],
    ['250ms', 250],
    ['2000us', 2],
  ];
  for (const [text, ms] of table) assert.equal(positiveSeconds(text), ms, text);
  assert.equal(signedSeconds('-1m30s'), -90_000);
  for (const text of ['', 's', '1d', '1h30', '-5s', '1h 30m']) assert.throws(() => positiveSeconds(text), text);
  assert.equal(timeout('1m'), 60_000);
  for (const text of ['0', '0s', '1d']) assert.throws(() => timeout(text), text);
});

test('timestamps are in RFC 3339 format', () => {
  for (const text of ['2999-01-01T00:00:00Z', '2026-11-05T12:00:00.5+01:00']) assert.equal(pointInTime(text), text);
  for (const text of ['yesterday', '2026-11-05', '2026-13-05T12:00:00Z', '12:00:00Z'])
    assert.throws(() => pointInTime(text), /a time such as/);
});
