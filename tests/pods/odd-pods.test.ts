/** Pods from public bug reports for other systems, on a full node. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { type Bundle, buildBundle } from './bundle.fixture.ts';
import { forever, NodePlace, podManifest } from './node.fixture.ts';

let bundle: Bundle;
let place: NodePlace;
before(async () => {
  bundle = await buildBundle();
  place = await NodePlace.open(bundle, '10.99.62.0/24');
  await place.loadImage();
  await place.startDaemon();
});
after(async () => {
  await place.remove();
  bundle.remove();
});

test('a probe or hook whose child process keeps the output open succeeds based on its exit code', async () => {
  const hook = `    lifecycle: {postStart: {exec: {command: [sh, -c, "sleep 3000 & exit 0"]}}}\n`;
  const probe = `    readinessProbe: {exec: {command: [sh, -c, "sleep 20 & exit 0"]}, periodSeconds: 1, timeoutSeconds: 1}\n`;
  const file = place.file('child.yaml', podManifest('child', forever) + hook + probe);
  await place.ok('run', '--detach', '--timeout', '60s', file);
  await place.ok('delete', '--force', 'child');
});

test('with a grace period of thirty days the preStop hook and the container can finish', async () => {
  const done = place.path('input', 'hook-done');
  const volume = `  volumes: [{name: input, hostPath: {path: ${place.path('input')}}}]\n`;
  const hook = `    lifecycle: {preStop: {exec: {command: [sh, -c, "sleep 1; touch /input/hook-done"]}}}\n`;
  const mount = '    volumeMounts: [{name: input, mountPath: /input}]\n';
  const manifest = podManifest('patient', forever, volume).replace('Seconds: 2', 'Seconds: 2592000') + hook + mount;
  await place.ok('run', '--detach', place.file('patient.yaml', manifest));
  await place.ok('delete', 'patient');
  assert.ok(existsSync(done), 'the hook was interrupted');
});
