import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createProgram } from '../program.ts';

test('a usage error says what is wrong and where to find help', async () => {
  const check = (line: string, message: string) =>
    assert.rejects(createProgram(() => undefined).parseAsync(line.split(' '), { from: 'user' }), { message }, line);
  await check('get', 'get: TYPE is missing: podwright get [options] <type> [name...]');
  await check('top', 'top: TYPE is missing: podwright top [options] <type> [name]');
  await check('wait --for=delete', 'wait: POD is missing: podwright wait [options] <pod...>');
  await check('wait web', "wait: --for <condition> is missing; 'podwright wait --help' explains");
  await check('--config', "--config <file>: the value is missing; 'podwright --help' explains");
  await check('ps web', 'ps: too many words (web): podwright ps [options]');
  await check('ps --zz', "ps: unknown option '--zz'; 'podwright ps --help' explains");
  await check('ps --wathc', "ps: unknown option '--wathc'; did you mean --watch?");
  await check(
    'runtime plugins -x',
    "runtime plugins: unknown option '-x'; 'podwright runtime plugins --help' explains",
  );
  await check('--nope ps', "unknown option '--nope'; 'podwright --help' explains");
  await check(
    'top pods --sort-by disk',
    "top: --sort-by disk: must be one of cpu, memory; 'podwright top --help' explains",
  );
  await check(
    'delete web --grace-period soon',
    "delete: --grace-period soon: a whole number is needed; 'podwright delete --help' explains",
  );
});
