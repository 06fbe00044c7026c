import assert from 'node:assert/strict';
import { test } from 'node:test';
import { execProcess } from './exec-spec.ts';

test('a command on a terminal gets TERM from the container, else from the client, else xterm', () => {
  const check = (env: string[], how: { terminal: boolean; terminalName?: string }, expected: string[]) => {
    const task = { terminal: true, user: { uid: 5, gid: 6 }, args: ['first'], env, cwd: '/' };
    const { env: found, ...rest } = execProcess(task, { command: ['sh'], ...how });
    assert.deepEqual(found, expected);
    assert.deepEqual(rest, { terminal: how.terminal, user: { uid: 5, gid: 6 }, args: ['sh'], cwd: '/' });
  };
  check(['A=1'], { terminal: true }, ['A=1', 'TERM=xterm']);
  check(['A=1'], { terminal: true, terminalName: 'dumb' }, ['A=1', 'TERM=dumb']);
  check(['TERM=vt100'], { terminal: true, terminalName: 'dumb' }, ['TERM=vt100']);
  check(['A=1'], { terminal: false, terminalName: 'dumb' }, ['A=1']);
});
