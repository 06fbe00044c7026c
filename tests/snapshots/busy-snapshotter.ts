/** Prepares, commits and removes snapshots in a loop, under the directory given as its argument, until killed. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { silentLogger } from '@podwright/base';
import { DirectorySnapshotter } from '../../packages/images/src/snapshots/directory-snapshotter.ts';
import { NativeLayout } from '../../packages/images/src/snapshots/native-layout.ts';
import { openDatabase } from '../../packages/metadata/src/database.ts';
import { loadSystem } from '../../packages/system/src/system.ts';

const scratch = process.argv[2]!;
const database = openDatabase(join(scratch, 'records.db'));
const layout = new NativeLayout(loadSystem());
const snapshotter = new DirectorySnapshotter({ root: join(scratch, 'root'), database, layout, logger: silentLogger });

const run = process.pid;
await snapshotter.prepare(`filling ${run}`, '');
const directory = await snapshotter.layerDirectory(`filling ${run}`);
for (let index = 0; index < 20; index++) {
  mkdirSync(join(directory, String(index)));
  for (let file = 0; file < 10; file++) writeFileSync(join(directory, String(index), String(file)), 'content');
}
writeFileSync(join(directory, 'complete'), '');
await snapshotter.commit(`base ${run}`, `filling ${run}`);
process.stdout.write('working\n');
for (let round = 0; ; round++) {
  await snapshotter.prepare(`copy ${run} ${round}`, `base ${run}`);
  if (round % 3 === 0) await snapshotter.commit(`layer ${run} ${round}`, `copy ${run} ${round}`);
  if (round % 3 === 2) await snapshotter.remove(`copy ${run} ${round}`);
}
