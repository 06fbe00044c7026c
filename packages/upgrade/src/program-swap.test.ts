import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { ProgramSwap } from './program-swap.ts';

function installed(context: TestContext): { program: string; leftovers: string } {
  const directory = mkdtempSync(join(tmpdir(), 'podwright-swap-'));
  context.after(() => rmSync(directory, { recursive: true }));
  const program = join(directory, 'podwright');
  writeFileSync(program, 'old');
  return { program, leftovers: join(directory, '.podwright-upgrade') };
}

test('a staged program replaces the installed one, which can be restored, and no other files are left', async (context) => {
  const { program, leftovers } = installed(context);
  {
    using swap = new ProgramSwap(program);
    writeFileSync(swap.staged, 'new');
    assert.equal(readFileSync(program, 'utf8'), 'old');
    await swap.replace();
    assert.equal(readFileSync(program, 'utf8'), 'new');
    await swap.restore();
    assert.equal(readFileSync(program, 'utf8'), 'old');
  }
  assert.ok(!existsSync(leftovers));
});

test('a second upgrade of the same program is rejected, and leftovers of a killed upgrade are removed', async (context) => {
  const { program, leftovers } = installed(context);
  const first = new ProgramSwap(program);
  writeFileSync(first.staged, 'new');
  await first.replace();
  assert.throws(() => new ProgramSwap(program), { code: 'already_exists', message: /another 'podwright upgrade'/ });
  assert.equal(readFileSync(join(leftovers, 'previous'), 'utf8'), 'old');
  first[Symbol.dispose]();
  {
    using second = new ProgramSwap(program);
    writeFileSync(second.staged, 'newer');
    await second.replace();
  }
  assert.equal(readFileSync(program, 'utf8'), 'newer');
});
