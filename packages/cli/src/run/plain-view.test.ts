import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { PlainView } from './plain-view.ts';
import { podOf, RUNNING, status } from './pod.fixture.ts';

function view() {
  const [out, statusOut] = [new PassThrough(), new PassThrough()];
  const text = (stream: PassThrough) => String(stream.read() ?? '');
  return { view: new PlainView({ out, status: statusOut }), out: () => text(out), status: () => text(statusOut) };
}

test('logs and messages about the run go to different streams', () => {
  const { view: shown, out, status: lines } = view();
  shown.pod(podOf({ containers: [status('a', RUNNING, { ready: true })] }));
  shown.log('hello');
  shown.settle('POD READY');
  shown.note(['web: open http://localhost:1']);
  assert.equal(out(), 'hello\n');
  assert.match(lines(), /^ +\d\.\d\ds {2}web\/a: Running\nPOD READY\nweb: open http:\/\/localhost:1\n$/);
});

test('a quiet view writes only logs', () => {
  const out = new PassThrough();
  const shown = new PlainView({ out });
  shown.pod(podOf({ containers: [status('a', RUNNING, { ready: true })] }));
  shown.settle('POD READY');
  shown.log('hello');
  assert.equal(String(out.read()), 'hello\n');
});

test('repeated pull failures with the same cause are shown once', () => {
  const { view: shown, status: lines } = view();
  const waiting = (reason: string, message: string) =>
    shown.pod(podOf({ containers: [status('a', { waiting: { reason, message } })] }));
  for (const cause of ['no such host', 'no such host', 'not found']) {
    waiting('ErrImagePull', cause);
    waiting('ImagePullBackOff', `Back-off pulling image "i": ErrImagePull: ${cause}`);
  }
  const shownLines = lines().trim().split('\n');
  assert.deepEqual(
    shownLines.map((line) => line.replace(/^ *[\d.]+s {2}/, '')),
    ['web/a: ErrImagePull: i: no such host', 'web/a: ErrImagePull: i: not found'],
  );
});
