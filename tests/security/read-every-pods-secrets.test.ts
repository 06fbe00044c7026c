/** A local user tries to read pods' environment variables, including Secrets, from the runtime's records (CVE-2024-25621). */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { containerOf, podOf } from '../fixtures/pods.ts';
import { makeTestPlace, RuntimeUnderTest } from '../fixtures/runtime-under-test.ts';
import { asNobody } from './as-nobody.fixture.ts';

const SECRET = 'correct-horse-battery-staple';
const place = makeTestPlace();
chmodSync(place.directory, 0o755); // as /run and /var/lib
const runtime = new RuntimeUnderTest(place);
const files = ['metadata.db', 'metadata.db-wal'].map((name) => join(place.options.root, name));
before(async () => {
  await runtime.start();
  const { podSandboxId } = await runtime.cri.runtime.runPodSandbox({ config: podOf(place, 'keeper') });
  const envs = [{ key: 'PASSWORD', value: Buffer.from(SECRET) }];
  const config = { ...containerOf(runtime.image, 'main', 'exec sleep 1000'), envs };
  await runtime.cri.runtime.createContainer({ podSandboxId, config });
});
after(async () => {
  assert.deepEqual(await runtime.end(), [], 'the runtime leaves nothing on the host');
});

function assertClosed(): void {
  for (const file of files) {
    assert.ok(existsSync(file), `${file} is there`);
    assert.equal(statSync(file).mode & 0o777, 0o600, `${file} is root's alone`);
  }
  const read = asNobody('cat "$@"', { args: files });
  assert.ok(!read.includes(SECRET), 'the user nobody cannot read the secret');
  assert.match(read, /Permission denied/);
}

test('other users on the host cannot read the records', assertClosed);

test('the next start restricts access to records left open by an earlier version', async () => {
  await runtime.stop();
  for (const path of [place.options.root, place.options.state]) chmodSync(path, 0o711);
  for (const file of files.filter((path) => existsSync(path))) chmodSync(file, 0o644);
  await runtime.start({}, { load: false });
  assertClosed();
});
