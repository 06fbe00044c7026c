import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planFix } from './doctor-fix.ts';
import { conmonFinding, initFinding } from './doctor-programs.ts';

test('a missing init program is a note, which --fix handles after the requirements', () => {
  const note = initFinding(undefined);
  assert.equal(note.level, 'note');
  assert.match(note.message, /shareProcessNamespace/);
  assert.deepEqual(planFix([note], 'ID=fedora'), {
    commands: [],
    optional: [['dnf', 'install', '-y', 'catatonit']],
    others: [],
  });
  const { commands, optional } = planFix([note, conmonFinding(undefined)], 'ID=debian');
  const words = (list: string[][]) => list.map((command) => command.join(' '));
  assert.match(words(commands).join(), /apt-get update .* conmon$/);
  assert.deepEqual(
    words(optional),
    words(commands.slice(1)).map((line) => line.replace('conmon', 'catatonit')),
    'without a second update of the lists of packages',
  );
});

test('a missing optional program is not an error on an unknown distribution', () => {
  assert.deepEqual(planFix([initFinding(undefined)], 'ID=other'), { commands: [], optional: [], others: ['init'] });
});

test('a program is reported with its path', () => {
  assert.deepEqual(initFinding('/usr/bin/catatonit'), { what: 'init', level: 'ok', message: '/usr/bin/catatonit' });
  const message = '2.1.6 (/usr/bin/conmon)';
  assert.deepEqual(conmonFinding({ version: '2.1.6', path: '/usr/bin/conmon' }), {
    what: 'conmon',
    level: 'ok',
    message,
  });
});
