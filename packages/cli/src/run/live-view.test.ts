import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import { TerminalView } from './live-view.ts';
import { podOf, RUNNING, status } from './pod.fixture.ts';

/** A terminal emulator that supports the escape sequences used by the live view. It emits `drawn` after each write. */
class Screen extends Writable {
  columns: number;
  readonly rows = 24;
  readonly isTTY = true;
  readonly #lines: string[] = [''];
  #row = 0;
  #column = 0;

  constructor(columns: number) {
    super();
    this.columns = columns;
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    const text = String(chunk).replaceAll(/\x1b\[\d+m/g, '');
    const up = /\x1b\[(\d+)A/y;
    for (let index = 0; index < text.length; index++) {
      up.lastIndex = index;
      const moved = up.exec(text);
      if (moved !== null) {
        this.#row -= Number(moved[1]);
        index += moved[0].length - 1;
      } else if (text.startsWith('\x1b[0J', index)) {
        this.#lines.splice(this.#row + 1);
        this.#lines[this.#row] = this.#lines[this.#row]!.slice(0, this.#column);
        index += 3;
      } else this.#put(text[index]!);
    }
    done();
    this.emit('drawn');
  }

  #put(character: string): void {
    if (character === '\r') this.#column = 0;
    else if (character === '\n') {
      this.#lines[++this.#row] ??= '';
      this.#column = 0;
    } else {
      const line = this.#lines[this.#row]!.padEnd(this.#column);
      this.#lines[this.#row] = line.slice(0, this.#column) + character + line.slice(++this.#column);
    }
  }

  get shown(): string[] {
    return this.#lines.map((line) => line.trimEnd()).filter((line) => line !== '');
  }
}

function view(columns = 80): { screen: Screen; view: TerminalView } {
  const screen = new Screen(columns);
  return { screen, view: new TerminalView(screen as unknown as NodeJS.WriteStream) };
}

const waiting = podOf({ containers: [status('nonoimg', { waiting: { reason: 'ErrImagePull' } })], phase: 'Pending' });

const drawn = (screen: Screen) => once(screen, 'drawn');

test('logs are printed above the live view, which stays at the bottom', async () => {
  const { screen, view: shown } = view();
  shown.pod(waiting);
  await drawn(screen);
  shown.log('web/a | one');
  shown.log('web/a | two');
  await drawn(screen);
  assert.deepEqual(screen.shown.slice(0, 2), ['web/a | one', 'web/a | two']);
  assert.equal(screen.shown.length, 4);
  shown.pod(podOf({ containers: [status('nonoimg', RUNNING, { ready: true })], ready: true }));
  shown.settle();
  assert.match(screen.shown[3]!, /nonoimg .*Running$/);
  shown.log('web/a | three');
  assert.equal(screen.shown.at(-1), 'web/a | three');
  assert.equal(screen.shown.length, 5);
});

test('the ^C echoed by a terminal leaves no parts of the live view behind', async () => {
  const { screen, view: shown } = view();
  shown.pod(waiting);
  await drawn(screen);
  screen.write('^C');
  shown.settle();
  assert.equal(screen.shown.length, 2, screen.shown.join('\n'));
  assert.match(screen.shown[1]!, /^ {2}nonoimg /);
});

test('the table replaces the live view', async () => {
  const { screen, view: shown } = view();
  shown.pod(podOf({ containers: [status('a', RUNNING, { ready: true })], ready: true }));
  await drawn(screen);
  shown.log('web/a | one');
  shown.settle('POD READY\nweb 1/1');
  shown.note(['web: open http://localhost:80']);
  assert.deepEqual(screen.shown, ['web/a | one', 'POD READY', 'web 1/1', 'web: open http://localhost:80']);
});

test('the reason a container cannot start is one full line above the live view', async () => {
  const { screen, view: shown } = view(40);
  const message = 'connect to https://registry.example: no such host; is the name right?';
  for (const reason of ['ErrImagePull', 'ImagePullBackOff'])
    shown.pod(podOf({ containers: [status('a', { waiting: { reason, message } })], phase: 'Pending' }));
  await drawn(screen);
  assert.equal(screen.shown[0], `web/a: ErrImagePull: ${message}`);
  assert.equal(screen.shown.length, 3);
});

test('once the pods are ready, each change is a line', () => {
  const { screen, view: shown } = view();
  shown.pod(podOf({ containers: [status('a', RUNNING, { ready: true })], ready: true }));
  shown.settle();
  const before = screen.shown.length;
  shown.pod(podOf({ containers: [status('a', { terminated: { exitCode: 3, reason: 'Error' } })] }));
  assert.match(screen.shown.slice(before).join('\n'), /^ +\d+\.\d\ds {2}web\/a: Error \(exit code 3\)$/);
});

test('after Ctrl-Z and fg, the live view is redrawn below the shell’s output', async () => {
  const { screen, view: shown } = view();
  shown.pod(waiting);
  await drawn(screen);
  screen.write('[1]+ Stopped\n$ fg\n');
  process.emit('SIGCONT');
  await drawn(screen);
  shown.settle();
  assert.deepEqual(screen.shown.slice(2, 4), ['[1]+ Stopped', '$ fg']);
  assert.equal(screen.shown.length, 6);
});
