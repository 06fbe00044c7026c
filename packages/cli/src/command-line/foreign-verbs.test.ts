import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createProgram } from '../program.ts';

const call = (...words: string[]) => createProgram(() => undefined).parseAsync(words, { from: 'user' });

test('a verb of another tool suggests our command, whatever follows it', async () => {
  const check = (words: string, message: RegExp) => assert.rejects(call(...words.split(' ')), { message });
  await check('create -f pod.yaml', /^create: only a job can be made by name; 'podwright apply FILE'/);
  await check('kube play --down x', /^there is no command 'kube': 'podwright run FILE'/);
  await check('play kube x', /'podwright run FILE'/);
  await check('rm -f web', /'podwright delete POD'/);
  await check('stats', /'podwright top pods -w'/);
  await check('container ls', /'podwright ps'/);
  await check('inspect web', /'podwright describe POD'/);
  await check('build .', /'podwright load FILE'/);
});

test('an unknown verb suggests the closest command, or help', async () => {
  await assert.rejects(call('descirbe', 'web'), {
    message: 'there is no command \'descirbe\'; did you mean "describe"?',
  });
  await assert.rejects(call('xyzzy'), {
    message: "there is no command 'xyzzy'; 'podwright --help' lists the commands",
  });
  await assert.rejects(call('toString'), { message: /^there is no command 'toString'/ });
});
