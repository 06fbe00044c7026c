/**
 * Runs the commands in the README and the guide unchanged on a distribution's default installation, with systemd and the node's default
 * directories, cgroup and bridge, and therefore only in a guest. The guest's disk contains the packages that setup would install.
 */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { waitFor } from '@podwright/base';
import { runChecked } from '@podwright/host';
import { commandLines, readBlocks } from '../documents/blocks.ts';
import { missingLine } from '../documents/output-shape.ts';
import { type InventoryScope, leftovers, takeInventory } from '../fixtures/host-inventory.ts';
import { StartedProgram } from '../pods/started-program.ts';
import { unitsWith } from './systemd.fixture.ts';

const CHECKOUT = new URL('../..', import.meta.url).pathname;
const UNIT = '/etc/systemd/system/podwright.service';
const PROGRAM = '/usr/bin/podwright';
const scope: InventoryScope = {
  roots: ['/var/lib/podwright', '/run/podwright', '/var/log/pods'],
  cgroupParent: '/podwright',
  bridge: 'podwright0',
};
const host = takeInventory(scope);

/** Returns what the node has left on the host, except for files, since its records and images are retained for the next start. */
const left = () => [...leftovers(host, { ...takeInventory(scope), files: [] }), ...unitsWith('podwright-pods')];

const podwright = (...args: string[]) => runChecked(`${CHECKOUT}bin/podwright`, args);

/** Returns the output of `podwright ps` once a node responds. */
const answers = () =>
  waitFor(() => podwright('ps').catch(() => undefined), { intervalMs: 200, signal: AbortSignal.timeout(60_000) });

async function page(): Promise<string> {
  const answer = await fetch('http://127.0.0.1:18080/index.html', { signal: AbortSignal.timeout(10_000) });
  return answer.text();
}

const serverPid = async () =>
  (await podwright('exec', 'web', '-c', 'server', '--', 'cat', '/proc/1/stat')).split(' ')[21];

/** Runs the block with this command from the guide, and compares the output with what the guide shows. */
async function followGuide(command: string): Promise<void> {
  const blocks = readBlocks('docs/guide.md');
  const at = blocks.findIndex((block) => block.marks.includes('host') && block.text.includes(command));
  const script = commandLines(blocks[at]!).join('\n');
  const printed = await runChecked('bash', ['-ec', script], { cwd: CHECKOUT });
  const shown = blocks[at + 1];
  if (shown?.language === 'text') assert.equal(missingLine(shown.text, printed), undefined, printed);
}

before(() => followGuide('make setup'));
after(async () => {
  await followGuide('systemctl disable');
  rmSync(UNIT);
  rmSync(PROGRAM);
});

test('`make run` starts the example, every command reaches it, and Ctrl-C leaves nothing behind', async () => {
  const run = new StartedProgram(['script', '-qfec', `make -C ${CHECKOUT} run`, '/dev/null']);
  await run.until(/TOOK/);
  assert.match(await page(), /Hello from Podwright/);
  await run.until(/fetch.*\| <h1>Hello from Podwright<\/h1>/);
  assert.match(await podwright('ps'), /^default +web +2\/2 +Running/m);
  assert.match(await podwright('logs', 'web', '-c', 'server'), /^serving /);
  assert.match(await podwright('exec', 'web', '-c', 'server', '--', 'ls', '/www'), /^index\.html$/m);
  assert.match(await podwright('describe', 'web'), /Container started/);
  assert.match(await podwright('trace', 'web'), /cgroup/);
  assert.match(await podwright('doctor'), /^ok +cgroups +v2:.*\n.*^ok +cgroup driver +systemd:/ms);
  run.type('\x03');
  assert.equal((await run.ended()).signal, null);
  assert.deepEqual(left(), []);
});

test('pods keep running while a node as a systemd service is restarted or stopped, until they are deleted', async () => {
  await runChecked('systemctl', ['set-environment', `PATH=${process.env.PATH}`]); // with the Node.js that set-up would install
  await followGuide('systemctl enable');
  await answers();
  await podwright('load', `${CHECKOUT}dist/hello-image.tar`);
  await podwright('run', '--detach', `${CHECKOUT}examples/hello.yaml`);
  const started = await serverPid();
  await runChecked('systemctl', ['restart', 'podwright']);
  assert.match(await page(), /Hello from Podwright/);
  await answers();
  assert.equal(await serverPid(), started, 'the server is the same process');
  await podwright('delete', 'web', 'fetch');
  assert.match(await podwright('ps'), /^no pods/);
  await runChecked('systemctl', ['stop', 'podwright']);
  assert.deepEqual(
    left().filter((line) => line.startsWith('processes: ')),
    [],
  );
});
