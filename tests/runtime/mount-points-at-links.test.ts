/**
 * Symbolic links at mount points in an image, including dangling links, links out of the root, and loops: all OCI runtimes behave the same.
 */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { AttackedRuntime, OCI_RUNTIMES } from '../security/attacked-runtime.fixture.ts';
import { directory, file, symlink } from '../unpack/layer.fixture.ts';

const attacked = new AttackedRuntime();
const { logs } = attacked.runtime.place;
const source = join(logs, 'volume');
const other = join(logs, 'other');
const single = join(logs, 'single');

before(async () => {
  await attacked.start();
  mkdirSync(source);
  writeFileSync(join(source, 'word'), 'volume');
  mkdirSync(join(source, 'below'));
  mkdirSync(join(other, 'below'), { recursive: true });
  writeFileSync(single, 'single');
});
after(() => attacked.end());

const links = [
  symlink('var/run', '../running'),
  symlink('etc/conf', '/opt/none/conf'),
  symlink('etc/zone', '/usr/share/zone/Asia/X'),
  symlink('a', 'b'),
  symlink('b', 'c/d'),
  symlink('up', '../../../../../gone'),
  directory('dev'),
  symlink('dev/data', '/etc'),
  directory('data'),
  symlink('data/below', '/etc'),
  symlink('loop', 'loop'),
  file('plain', 'text'),
];

/** Mount points, with the paths at which the mounted files must be visible. */
const places: [containerPath: string, hostPath: string, seen: string[]][] = [
  ['/var/run', source, ['/var/run/word', '/running/word']],
  ['/var/run/below', source, ['/running/below/word']],
  ['/etc/conf', source, ['/opt/none/conf/word']],
  ['/etc/zone', single, ['/usr/share/zone/Asia/X']],
  ['/a/e', source, ['/c/d/e/word', '/b/e/word']],
  ['/up/x', source, ['/gone/x/word']],
  ['/dev/data', source, ['/dev/data/word']],
  ['/data', other, []],
  ['/data/below', source, ['/data/below/word']],
];
const seen = places.flatMap(([, , paths]) => paths);
const mounts = places.map(([containerPath, hostPath]) => ({ containerPath, hostPath }));
const script = `for file in ${seen.join(' ')} /etc/passwd; do test -s $file || echo "no $file"; done`;

for (const handler of OCI_RUNTIMES) {
  test(`${handler}: mounts follow links of the image, also dangling ones`, async () => {
    const image = await attacked.image(handler, links);
    const pod = await attacked.pod(handler, { handler });
    for (const readonlyRootfs of [false, true]) {
      const linux = { securityContext: { readonlyRootfs } };
      const { out, err, exitCode } = await attacked.run(pod, { image: { image }, script, mounts, linux });
      assert.deepEqual([out, err, exitCode], ['', '', 0]);
    }
    const refused = async (containerPath: string, message: RegExp) => {
      const wrong = { image: { image }, script: 'true', mounts: [{ containerPath, hostPath: source }] };
      await assert.rejects(attacked.run(pod, wrong), { message });
    };
    await refused('/loop/x', /resolve \/loop\/x: too many symbolic links/);
    await refused('/plain/x', /\/plain\/x.*not a directory/i);
    // the image's next container still has the original links
    const { out } = await attacked.run(pod, {
      image: { image },
      script: 'readlink /var/run; readlink /etc/conf; ls -d /running /opt /gone /c',
    });
    assert.equal(out, '../running\n/opt/none/conf\n');
    await attacked.remove(pod.podSandboxId);
  });
}

test('nothing was created in the mounted directories', () => {
  assert.deepEqual(
    [readdirSync(source), readdirSync(other), readdirSync(join(other, 'below'))],
    [['below', 'word'], ['below'], []],
  );
});
