/** A CI job in a privileged container without systemd runs pods, using the release's image. */
import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { VERSION } from '../../packages/base/src/version.ts';
import { type Bundle, buildBundle } from '../pods/bundle.fixture.ts';
import { exampleImage, NodePlace } from '../pods/node.fixture.ts';
import { buildRelease, type Release } from './release.fixture.ts';

let release: Release;
let bundle: Bundle;
let place: NodePlace;
const job = mkdtempSync('/tmp/pwj-');
before(async () => {
  [release, bundle] = await Promise.all([buildRelease(), buildBundle()]);
  place = new NodePlace(bundle, '10.97.6.0/24');
  await place.startDaemon();
  await place.ok('load', release.image);
  copyFileSync(bundle.image, join(job, 'app.tar'));
  copyFileSync(new URL('../../examples/ci/run-pods.sh', import.meta.url), join(job, 'run-pods.sh'));
});
after(async () => {
  await place?.remove();
  release?.remove();
  bundle?.remove();
  rmSync(job, { recursive: true });
});

const podOf = (name: string, spec: object) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { restartPolicy: 'Never', ...spec },
});

/** The job: a privileged container as started by CI systems, with the job's files at /job. */
const jobPod = podOf('job', {
  volumes: [{ name: 'job', hostPath: { path: job } }],
  containers: [
    {
      name: 'main',
      image: `localhost/podwright/podwright:${VERSION}`,
      command: ['sh', '/job/run-pods.sh', '/job/pod.json', '/job/app.tar'],
      securityContext: { privileged: true },
      volumeMounts: [{ name: 'job', mountPath: '/job' }],
    },
  ],
});

for (const [script, expected] of [
  ['cat /etc/hostname', 0],
  ['echo broken >&2; exit 3', 3],
] as const)
  test(`a job whose pod runs "${script}" ends with ${expected}`, async () => {
    const task = podOf('task', { containers: [{ name: 'main', image: exampleImage, command: ['sh', '-c', script] }] });
    writeFileSync(join(job, 'pod.json'), JSON.stringify(task));
    const { code, out, err } = await place.call('run', '--once', place.file('job.json', JSON.stringify(jobPod)));
    assert.equal(code, expected, out + err);
    assert.match(out + err, expected === 0 ? /^task$/m : /broken/);
  });
