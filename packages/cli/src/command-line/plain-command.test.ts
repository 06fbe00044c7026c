import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createProgram } from '../program.ts';
import { separateCommand } from './plain-command.ts';

test('the words after the pod of exec are the command, even without --', () => {
  const program = createProgram(() => undefined);
  const check = (line: string, expected: string) =>
    assert.deepEqual(separateCommand(program, line.split(' ')).join(' '), expected, line);
  const same = (line: string) => check(line, line);
  check('exec web ls -la', 'exec web -- ls -la');
  check('exec -it web sh -c x', 'exec -it web -- sh -c x');
  check('exec web -it sh', 'exec web -it -- sh');
  check('exec -c side web ls -t', 'exec -c side web -- ls -t');
  check('exec -itc side web ls', 'exec -itc side web -- ls');
  check('exec -itcside web ls', 'exec -itcside web -- ls');
  check('exec --container side --namespace=b web ls', 'exec --container side --namespace=b web -- ls');
  check('--root /x exec web ls -- -la', '--root /x exec web -- ls -- -la');
  same('exec web -- ls -la');
  same('exec -it web -c side -- ls -la');
  same('exec web');
  same('exec --nonsense web');
  same('logs web exec ls');
  same('run a b c');
});
