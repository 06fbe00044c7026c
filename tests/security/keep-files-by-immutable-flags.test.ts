/** A container with CAP_LINUX_IMMUTABLE makes files that nobody can remove, in the directories and at the root of its volumes. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { removeTree, runChecked, silentLogger, Trash } from '@podwright/base';

for (const flag of ['+i', '+a'])
  test(`files, directories and a volume that are ${flag} are removed with the rest`, async (t) => {
    const scratch = mkdtempSync('/tmp/podwright-flags-');
    t.after(() => removeTree(scratch));
    const volume = join(scratch, 'volume');
    mkdirSync(join(volume, 'directory/below'), { recursive: true });
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
