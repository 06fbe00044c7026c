/**
 * Unusual file names from containers and archives: not UTF-8, with line feeds, 255 bytes long, deeper than PATH_MAX. Every part of
 * Podwright that walks such trees has a row here. Requires root.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, statSync } from 'node:fs';
import { Readable } from 'node:stream';
import { describe, test } from 'node:test';
import { packTree, unpackInto } from '@podwright/copy';
import { measureTree, removeTree, treeUse } from '@podwright/host';
import { loadSystem } from '@podwright/system';
import { measureTree as measureDockerLayer } from '../../packages/dockershim/src/statistics/layer-sizes.ts';
import { found, makeDeepTree, makeOddTree } from '../../packages/host/src/files/odd-names.fixture.ts';
import { TreeCopier } from '../../packages/images/src/snapshots/copy-tree.ts';
import { writeLayerDifference } from '../../packages/images/src/snapshots/layer-difference.ts';
import { readTar } from '../../packages/images/src/tar.ts';
import { LayerUnpacker } from '../../packages/images/src/unpack/unpack-layer.ts';
import { writeAtomically } from '../../packages/volumes/src/volumes/atomic-writer.ts';
import { changeGroup } from '../../packages/volumes/src/volumes/volume-ownership.ts';

const GROUP = 3000;
const { signal } = new AbortController();

/** Properties to compare between a tree and its copy: type, permissions, size, link target and path. */
const FACTS = '%y %m %s %l %p';

type Row = {
  /** The operation, phrased as the end of a sentence. */
  what: string;
  /** Whether the operation supports trees deeper than PATH_MAX. */
  deep: boolean;
  /** Performs the operation. `tree` is an existing tree; `other` is a path for output, at which nothing exists. */
  walk: (tree: string, other: string) => Promise<void>;
};

function assertCopied(tree: string, other: string, format = FACTS): void {
  assert.deepEqual(found(other, format), found(tree, format));
}

async function assertUse(tree: string, use: { inodes: number }): Promise<void> {
  assert.equal(use.inodes, found(tree, '%p').length + 1);
}

async function giveAndCheck(tree: string): Promise<void> {
  await changeGroup(tree, { group: GROUP });
  const isGiven = (line: string) => {
    const [kind, gid, mode] = line.split(' ');
    const wanted = { d: 0o2770, f: 0o660 }[kind!] ?? 0;
    return Number(gid) === GROUP && (Number.parseInt(mode!, 8) & wanted) === wanted;
  };
  const others = found(tree, '%y %G %m %p').filter((line) => !isGiven(line));
  assert.deepEqual(others, []);
}

const ROWS: Row[] = [
  {
    what: 'is removed',
    deep: true,
    walk: async (tree) => {
      await removeTree(tree);
      assert.ok(!existsSync(tree));
    },
  },
  { what: 'is given to an fsGroup', deep: true, walk: giveAndCheck },
  {
    what: 'is measured as a layer',
    deep: true,
    walk: async (tree) => assertUse(tree, (await measureTree(tree, { signal })).usage),
  },
  {
    what: 'is measured as a volume',
    deep: true,
    walk: async (tree) => assertUse(tree, await treeUse(tree, { signal })),
  },
  {
    what: 'is measured as a layer of Docker',
    deep: false, // deeper files are not counted
    walk: async (tree) => assert.equal((await measureDockerLayer(tree)).inodes, found(tree, '%p').length),
  },
  {
    what: 'is copied as the volume of an image',
    deep: false,
    walk: async (tree, other) => {
      await new TreeCopier(loadSystem()).copy(Buffer.from(tree), Buffer.from(other));
      assertCopied(tree, other);
    },
  },
  {
    what: 'is copied into a container',
    deep: false, // the container's tar opens paths
    walk: async (tree, other) => {
      const archive = Buffer.concat([...packTree({ path: tree, name: '.', onSkipped: assert.fail })]);
      mkdirSync(other);
      execFileSync('tar', ['--extract', '--directory', other], { input: archive });
      assertCopied(tree, other);
    },
  },
  {
    what: 'is copied from a container, without its links',
    deep: true,
    walk: async (tree, other) => {
      const archive = execFileSync('tar', ['--create', '--directory', tree, '.'], { maxBuffer: 64 << 20 });
      await unpackInto(readTar(Readable.from([archive])), {
        base: '.',
        destination: other,
        onSkipped: () => undefined,
      });
      const files = (root: string) => found(root, '%y %s %p').filter((line) => line.startsWith('f'));
      assert.deepEqual(files(other), files(tree));
    },
  },
  {
    what: 'is written into a checkpoint',
    deep: false,
    walk: async (tree, other) => {
      const target = { directory: tree, overlayWhiteouts: true, parentDirectories: [] };
      await writeLayerDifference(target, { archive: `${other}.tar`, deleted: `${other}.deleted`, signal });
      mkdirSync(other);
      execFileSync('tar', ['--extract', '--file', `${other}.tar`, '--directory', other]);
      assertCopied(tree, other);
    },
  },
  {
    what: 'is unpacked as a layer',
    deep: false, // names in layers have at most 4096 bytes
    walk: async (tree, other) => {
      execFileSync('tar', ['--create', '--file', `${other}.tar`, '--directory', tree, '.']);
      mkdirSync(other);
      await using unpacker = new LayerUnpacker({ system: loadSystem() });
      const layer = { blobPath: `${other}.tar`, mediaType: 'application/vnd.oci.image.layer.v1.tar' };
      await unpacker.unpackLayer({ ...layer, directory: other, overlayWhiteouts: true, signal });
      assertCopied(tree, other);
    },
  },
  {
    what: 'is replaced by the content of a ConfigMap',
    deep: false,
    walk: async (tree) => {
      await writeAtomically(tree, new Map([['key', { data: Buffer.from('text'), mode: 0o644 }]]));
      assert.deepEqual(
        found(tree, '%f').filter((name) => !name.startsWith('..')),
        ['key', 'key'],
      );
      assert.ok(statSync(`${tree}/key`).isFile());
    },
  },
];

describe('a tree', () => {
  for (const { what, deep, walk } of ROWS)
    for (const [which, make] of [
      ['with odd file names', makeOddTree],
      ...(deep ? [['deeper than PATH_MAX', makeDeepTree] as const] : []),
    ] as const)
      test(`${which} ${what}`, async (t) => {
        const scratch = mkdtempSync('/tmp/podwright-names-');
        t.after(() => removeTree(scratch));
        make(`${scratch}/tree`);
        await walk(`${scratch}/tree`, `${scratch}/other`);
      });
});
