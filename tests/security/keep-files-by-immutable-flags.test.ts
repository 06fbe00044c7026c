/** A container with CAP_LINUX_IMMUTABLE makes files immutable, in directories and at the root of its volumes. */
import assert from 'node:assert/strict';
import { existsSync, linkSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { removeTree, runChecked, Trash } from '@podwright/host';

for (const flag of ['+i', '+a'])
  test(`files, directories and a volume that are ${flag} are removed with the rest`, async (t) => {
    const scratch = mkdtempSync('/tmp/podwright-flags-');
    t.after(() => removeTree(scratch));
    const volume = join(scratch, 'volume');
    mkdirSync(join(volume, `directory/below${'/deep'.repeat(40)}`), { recursive: true });
    const file = Buffer.from(`${volume}/directory/caf\xe9`, 'latin1');
    for (const path of [file, join(volume, 'directory/below/file'), join(volume, 'plain')]) writeFileSync(path, '');
    await runChecked('chattr', ['-R', flag, volume]);
    const trash = new Trash(join(scratch, 'trash'), silentLogger);
    trash.throwAway(volume);
    await trash.empty();
    await trash.close();
    assert.ok(!existsSync(volume));
    assert.deepEqual(readdirSync(join(scratch, 'trash')), []);
  });

test('clearing flags does not follow a link that replaces a directory', async (t) => {
  const scratch = mkdtempSync('/tmp/podwright-flags-');
  const [volume, outside, programs] = ['volume', 'outside', 'bin'].map((name) => join(scratch, name)) as [
    string,
    string,
    string,
  ];
  const [big, precious] = [join(volume, 'big'), join(outside, 'file-0')];
  for (const directory of [big, outside, programs]) mkdirSync(directory, { recursive: true });
  writeFileSync(precious, '');
  for (let number = 0; number < 2000; number++) {
    writeFileSync(join(big, `file-${number}`), '');
    if (number > 0) linkSync(precious, join(outside, `file-${number}`));
  }
  // once the real program has cleared the directory's flag, the directory can be replaced
  const swap = `until mv '${big}' '${volume}/aside' 2>/dev/null; do :; done; ln -s '${outside}' '${big}'`;
  const real = (await runChecked('sh', ['-c', 'command -v chattr'])).trim();
  writeFileSync(join(programs, 'chattr'), `#!/bin/sh\n'${real}' "$@" & [ -L '${big}' ] || { ${swap}; }\nwait\n`, {
    mode: 0o755,
  });
  const flagsOf = async (path: string) => (await runChecked('lsattr', [path])).split(' ')[0]!;
  await runChecked('chattr', ['-R', '+i', big]);
  await runChecked('chattr', ['+i', precious]);
  const { PATH } = process.env;
  t.after(async () => {
    process.env.PATH = PATH;
    await runChecked('chattr', ['-i', precious]);
    await removeTree(scratch);
  });
  process.env.PATH = `${programs}:${PATH}`;
  const removed = await removeTree(volume).then(() => true, String);
  assert.match(await flagsOf(precious), /i/);
  assert.equal(removed, true);
});
