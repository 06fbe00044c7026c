import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planFix } from './doctor-fix.ts';
import type { Finding } from './doctor-places.ts';

const FINDINGS: Finding[] = [
  { what: 'root', level: 'ok', message: 'yes' },
  { what: 'conmon', level: 'missing', message: 'not found', lacks: ['conmon'] },
  { what: 'OCI runtime', level: 'missing', message: 'none that works', lacks: ['crun'] },
  { what: 'clock', level: 'missing', message: '300 s ahead' },
];

test('the plan installs everything missing at once, and lists what packages cannot fix', () => {
  assert.deepEqual(planFix(FINDINGS, 'ID=fedora'), {
    commands: [['dnf', 'install', '-y', 'conmon', 'crun']],
    optional: [],
    others: ['clock'],
  });
});

test('if no programs are missing, there is no command, even on an unknown distribution', () => {
  const rest = FINDINGS.filter(({ lacks }) => lacks === undefined);
  assert.deepEqual(planFix(rest, 'ID=other'), { commands: [], optional: [], others: ['clock'] });
});

test('on an unknown distribution the error names the programs', () => {
  assert.throws(() => planFix(FINDINGS, 'ID=other'), { code: 'failed_precondition', message: /conmon, crun.*by hand/ });
});
