/** One, two or three signals, at any time, end `podwright run` and remove all its objects. */
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { forever, NodePlace, podManifest } from '../pods/node.fixture.ts';
import { StartedProgram } from '../pods/started-program.ts';

let bundle: Bundle;
before(async () => {
  bundle = await buildBundle();
});
after(() => bundle.remove());

async function makePlace(context: TestContext, number: number): Promise<NodePlace> {
  const place = new NodePlace(bundle, `10.130.${number}.0/24`);
  context.after(() => place.remove());
  await place.loadImage();
  return place;
}

const wait = (durationMs: number) => new Promise((resolve) => setTimeout(resolve, durationMs));

/** When to send the first signal, how many signals to send, and the interval between them. */
type Volley = { afterMs: number; signals: number; apartMs: number };

/** Sends SIGINT to a command on pipes, or types Ctrl-C at its terminal. */
async function send(program: StartedProgram, { afterMs, signals, apartMs }: Volley, how: 'pipe' | 'terminal') {
  await wait(afterMs);
  for (let sent = 0; sent < signals; sent++) {
    if (sent > 0) await wait(apartMs);
    if (how === 'pipe') program.child.kill('SIGINT');
    else program.type('\x03');
  }
}

async function shoot(place: NodePlace, file: string, volley: Volley, how: 'pipe' | 'terminal'): Promise<void> {
  const command = place.command('run', file);
  const program =
    how === 'pipe'
      ? place.startProgram(...command)
      : place.startProgram('script', '-qfec', command.join(' '), '/dev/null');
  await send(program, volley, how);
  const { code, signal, out, err } = await program.ended(20_000);
  const details = `${JSON.stringify({ ...volley, how })}\n${out}\n${err}`;
  assert.equal(signal ?? code, signal === null ? 130 : 'SIGINT', details);
  assert.doesNotMatch(out + err, /^ +at |it comes from/m, details);
}

test('without a running node, nothing is left behind whenever a signal arrives', async (context) => {
  const place = await makePlace(context, 1);
  const file = place.file('a.yaml', podManifest('a', forever));
  for (const [round, afterMs] of [100, 350, 550, 700, 900, 1200, 1700].entries()) {
    const volley = { afterMs, signals: 2 + (round % 2), apartMs: (round % 3) * 15 };
    await shoot(place, file, volley, round % 4 < 2 ? 'pipe' : 'terminal');
    assert.deepEqual(place.leftovers(), [], JSON.stringify(volley));
  }
});

test('with a running node, the pod is removed whenever a signal arrives', async (context) => {
  const place = await makePlace(context, 2);
  const file = place.file('a.yaml', podManifest('a', forever));
  await place.startDaemon();
  for (let round = 0; round < 10; round++) {
    const volley = { afterMs: 150 + round * 55, signals: 1 + (round % 3), apartMs: (round % 4) * 10 };
    await shoot(place, file, volley, round % 2 === 0 ? 'pipe' : 'terminal');
    // a signal that arrives before the handlers are installed kills the command before it creates the pod
    assert.deepEqual(await place.pods(), [], JSON.stringify(volley));
  }
});

test('several simultaneous signals, as soon as the pod exists, remove the pod', async (context) => {
  const place = await makePlace(context, 3);
  const file = place.file('a.yaml', podManifest('a', forever));
  await place.startDaemon();
  for (let round = 0; round < 4; round++) {
    const program = place.start('run', file);
    await program.until(round % 2 === 0 ? /main: ContainerCreating|sandbox ready/ : /main: Running/);
    await send(program, { afterMs: 0, signals: 2 + (round % 2), apartMs: 0 }, 'pipe');
    const { code, err } = await program.ended(20_000);
    assert.equal(code, 130, err);
    assert.deepEqual(await place.pods(), []);
  }
});

test('closing standard output ends the run, and nothing is left behind', async (context) => {
  const place = await makePlace(context, 4);
  const file = place.file('a.yaml', podManifest('a', `while :; do echo x; sleep 0.1; done`));
  const command = `${place.command('run', file).join(' ')} | head -n 3`;
  const { out } = await place.startProgram('sh', '-c', command).ended(30_000);
  assert.equal(out.trimEnd().split('\n').length, 3);
  await place.until(() => place.leftovers().length === 0);
});

test('closing the terminal ends the run, and nothing is left behind', async (context) => {
  const place = await makePlace(context, 5);
  const file = place.file('a.yaml', podManifest('a', forever));
  const terminal = place.startProgram('script', '-qfec', place.command('run', file).join(' '), '/dev/null');
  await terminal.until(/TOOK/);
  terminal.child.kill('SIGKILL');
  await place.until(() => place.leftovers().length === 0);
});

test('`make run` succeeds at Ctrl-C and fails if the run fails', async (context) => {
  const checkout = mkdtempSync('/tmp/make-run-');
  context.after(() => rmSync(checkout, { recursive: true }));
  for (const directory of ['bin', 'scripts']) mkdirSync(join(checkout, directory));
  cpSync(new URL('../../scripts/run-example.sh', import.meta.url), join(checkout, 'scripts/run-example.sh'));
  writeFileSync(join(checkout, 'Makefile'), 'run:\n\t@scripts/run-example.sh\n');
  const make = (script: string) => {
    writeFileSync(join(checkout, 'bin/podwright'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    const command = `make -C ${checkout} run; echo "make ended with $?"`;
    return new StartedProgram(['script', '-qfec', command, '/dev/null']);
  };
  const interrupted = make('trap "exit 130" INT; echo up; while :; do sleep 0.05; done');
  await interrupted.until(/^up/m);
  interrupted.type('\x03');
  await interrupted.until(/make ended with 0/);
  await interrupted.ended();
  const failing = make('exit 3');
  await failing.until(/make ended with 2/);
  await failing.ended();
});
