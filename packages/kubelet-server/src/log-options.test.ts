import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LogQuery } from '@podwright/kubelet';
import { logOptions } from './log-options.ts';

const NOW = Date.parse('2026-01-01T00:01:00Z');

function check(query: string, expected: LogQuery & { previous?: boolean }): void {
  const options = logOptions(new URLSearchParams(query), NOW);
  assert.equal(options.kind, 'log');
  const { previous, query: given } = options as Extract<typeof options, { kind: 'log' }>;
  const defined = Object.entries({ ...given, previous }).filter(([, value]) => value !== undefined && value !== false);
  assert.deepEqual(Object.fromEntries(defined), expected, query);
}

function refused(query: string, kind: 'unreadable' | 'senseless', problem: string): void {
  assert.deepEqual(logOptions(new URLSearchParams(query), NOW), { kind, problem }, query);
}

test('log options are decoded like upstream', () => {
  check('', {});
  check('tailLines=&sinceTime=&limitBytes=', {});
  check('tailLines=0&limitBytes=5', { tailLines: 0, limitBytes: 5 });
  check('tail=7&tailLines=8', { tailLines: 7 });
  check('tail=all&tailLines=8', {});
  check('sinceSeconds=%2B30', { sinceMs: NOW - 30_000 });
  check('sinceTime=2026-01-01T01:00:30%2B01:00', { sinceMs: NOW - 30_000 });
  check('follow&timestamps=1&previous=yes', { follow: true, timestamps: true, previous: true });
  check('follow=False&timestamps=0&previous=false', {});
  check('stream=Stderr', { stream: 'stderr' });
});

test('undecodable and invalid parameters are distinguished, and named', () => {
  refused('tailLines=x', 'unreadable', 'tailLines: a whole number is needed, got "x"');
  refused('tail=x', 'unreadable', 'tailLines: a whole number is needed, got "x"');
  refused('sinceTime=yesterday', 'unreadable', 'sinceTime: an RFC 3339 time is needed, got "yesterday"');
  refused(
    'sinceTime=2026-01-01T00:00:00',
    'unreadable',
    'sinceTime: an RFC 3339 time is needed, got "2026-01-01T00:00:00"',
  );
  refused('tailLines=-1', 'senseless', 'tailLines: must be at least 0');
  refused('limitBytes=0', 'senseless', 'limitBytes: must be at least 1');
  refused('sinceSeconds=0', 'senseless', 'sinceSeconds: must be at least 1');
  refused('sinceSeconds=1&sinceTime=2026-01-01T00:00:00Z', 'senseless', 'sinceSeconds: sinceTime is given, too');
  refused('stream=stdout', 'senseless', 'stream: must be one of All, Stdout, Stderr');
  refused('stream=Stdout&tailLines=1', 'senseless', 'tailLines: only for the stream All');
});
