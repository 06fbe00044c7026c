import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDatabase } from '@podwright/metadata';
import { runtimeReadiness } from './readiness.ts';

test('the runtime is ready as long as its programs exist and its records are writable', async () => {
  const database = openDatabase(':memory:');
  const check = async (programs: string[], message: RegExp | undefined) => {
    const readiness = await runtimeReadiness({ programs, database });
    assert.equal(readiness.ready, message === undefined);
    if (!readiness.ready) assert.match(readiness.message, message!);
  };
  await check([process.execPath], undefined);
  await check([process.execPath, '/none/runc'], /^find \/none\/runc, which runs pods: no such file or directory/);
  await check(['/etc/passwd'], /permission denied/);
  database.exec('PRAGMA query_only = 1');
  await check([process.execPath], /^write to the records :memory:: .*readonly/);
  database.exec('PRAGMA query_only = 0');
  await check([process.execPath], undefined);
});
