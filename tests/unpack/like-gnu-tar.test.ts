/** Layers written by GNU tar must be unpacked as GNU tar would: content, mode, owner, times, links, devices, attributes. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  closeSync,
  ftruncateSync,
  lchownSync,
  linkSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  openSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { LayerUnpacker } from '../../packages/images/src/unpack/unpack-layer.ts';
import { loadSystem } from '../../packages/system/src/system.ts';
import { assertSameTree } from '../snapshots/describe-tree.ts';
import { Scratch } from './scratch.ts';

const system = loadSystem();
const unpacker = new LayerUnpacker({ system });
after(() => unpacker[Symbol.asyncDispose]());

/** Options that make GNU tar preserve everything, both when creating and when extracting archives. */
const everything = ['--xattrs', '--xattrs-include=*', '--numeric-owner', '--sparse'];

type Layer = { name: string; fill: (at: (path: string) => string) => void; options?: string[] };

const write = (path: string, content: string | Buffer = 'content', mode = 0o644) => {
  writeFileSync(path, content);
  chmodSync(path, mode);
};

/** Returns incompressible bytes, which are the same in each run. */
const noise = (length: number) => {
  const blocks = Array.from({ length: Math.ceil(length / 32) }, (_, index) =>
    createHash('sha256').update(`${index}`).digest(),
  );
  return Buffer.concat(blocks).subarray(0, length);
};

const layers: Layer[] = [
  { name: 'an empty directory', fill: () => undefined },
  {
    name: 'plain files of many sizes',
    fill: (at) =>
      [0, 1, 511, 512, 513, 10_239, 10_240, 1_048_577].forEach((size) => {
        write(at(`f${size}`), noise(size));
      }),
  },
  { name: 'one big file', fill: (at) => write(at('big'), noise(8 << 20)) },
  {
    name: 'a thousand small files',
    fill: (at) => {
      for (let i = 0; i < 1000; i++) {
        if (i % 100 === 0) mkdirSync(at(`d${i}`));
        write(at(`d${i - (i % 100)}/f${i}`), `${i}`);
      }
    },
  },
  {
    name: 'modes with setuid, setgid and sticky',
    fill: (at) => {
      for (const mode of [0o4755, 0o2755, 0o1755, 0o6711, 0o000, 0o7777]) {
        write(at(`f${mode}`), 'x', mode);
        mkdirSync(at(`d${mode}`));
        chmodSync(at(`d${mode}`), mode);
      }
    },
  },
  {
    name: 'owners, small and big',
    fill: (at) => {
      for (const id of [1, 65534, 2_097_151, 2_097_152, 4_000_000_000]) {
        write(at(`f${id}`), 'x', 0o4711);
        chownSync(at(`f${id}`), id, id - 1);
        chmodSync(at(`f${id}`), 0o4711);
        symlinkSync('x', at(`l${id}`));
        lchownSync(at(`l${id}`), id, 0);
      }
    },
  },
  {
    name: 'times of files, directories and links',
    fill: (at) => {
      mkdirSync(at('d/e'), { recursive: true });
      write(at('d/e/f'));
      symlinkSync('f', at('d/e/l'));
      utimesSync(at('d/e/f'), 0, 0);
      lutimesSync(at('d/e/l'), 5, 5);
      utimesSync(at('d/e'), 1e9, 1e9);
      utimesSync(at('d'), 2e9 + 0.5, 2e9 + 0.5);
    },
  },
  {
    name: 'times before 1970 and after 2038',
    fill: (at) => {
      for (const [name, time] of [
        ['old', -1.5],
        ['older', -86_400],
        ['new', 5_000_000_000],
      ] as const) {
        write(at(name));
        mkdirSync(at(`d-${name}`));
        symlinkSync('x', at(`l-${name}`));
        const text = String(time); // Node.js takes a negative number for the current time
        for (const path of [name, `d-${name}`, `l-${name}`]) lutimesSync(at(path), text, text);
        assert.equal(lstatSync(at(name)).mtimeMs, time * 1000);
      }
    },
  },
  {
    name: 'hard links',
    fill: (at) => {
      mkdirSync(at('d'));
      write(at('d/z'), 'shared');
      linkSync(at('d/z'), at('a'));
      linkSync(at('d/z'), at('d/b'));
      symlinkSync('z', at('d/l'));
      linkSync(at('d/l'), at('d/l2'));
    },
  },
  {
    name: 'symbolic links, broken, absolute and looping',
    fill: (at) => {
      symlinkSync('/etc/passwd', at('abs'));
      symlinkSync('../../../up', at('up'));
      symlinkSync('loop', at('loop'));
      symlinkSync('x'.repeat(150), at('long'));
      symlinkSync('.', at('self'));
    },
  },
  {
    name: 'devices and pipes',
    fill: (at) => {
      for (const [name, type, major, minor] of [
        ['null', 'c', 1, 3],
        ['big', 'b', 259, 65_537],
        ['zero', 'c', 4095, 255],
      ] as const)
        execFileSync('mknod', [at(name), type, `${major}`, `${minor}`]);
      execFileSync('mkfifo', ['-m', '600', at('pipe')]);
      chownSync(at('pipe'), 5, 6);
    },
  },
  {
    name: 'extended attributes',
    fill: (at) => {
      write(at('f'));
      mkdirSync(at('d'));
      symlinkSync('f', at('l'));
      system.setXattr(at('f'), 'user.binary', Buffer.from([0, 10, 61, 255]));
      system.setXattr(at('f'), 'user.big', noise(3000));
      system.setXattr(at('d'), 'user.x', Buffer.from('on a directory'));
      system.setXattr(at('f'), 'user.a=b%c', Buffer.from('odd name'));
    },
  },
  {
    name: 'capabilities',
    fill: (at) => {
      write(at('ping'), 'x', 0o755);
      chownSync(at('ping'), 3, 4);
      system.setXattr(
        at('ping'),
        'security.capability',
        Buffer.from('0100000200200000000000000000000000000000', 'hex'),
      );
    },
  },
  {
    name: 'sparse files',
    fill: (at) => {
      for (const [name, parts, size] of [
        ['one', [4096], 1 << 22],
        ['many', [...Array(60).keys()].map((i) => i * 65_536), 60 * 65_536],
        ['none', [], 1 << 20],
      ] as const) {
        const file = openSync(at(name), 'w');
        for (const part of parts) writeSync(file, 'data', part);
        ftruncateSync(file, size);
        closeSync(file);
      }
    },
  },
  {
    name: 'long names and links',
    fill: (at) => {
      const name = 'n'.repeat(255);
      mkdirSync(at(`${name}/${name}`), { recursive: true });
      write(at(`${name}/${name}/${name}`));
      linkSync(at(`${name}/${name}/${name}`), at('hard'));
      symlinkSync(`${name}/${name}/${name}`, at('soft'));
    },
  },
  {
    name: 'deep directories',
    fill: (at) => {
      const path = Array(400).fill('deep').join('/');
      mkdirSync(at(path), { recursive: true });
      write(at(`${path}/f`));
    },
  },
  {
    name: 'names of every kind of byte',
    fill: (at) => {
      for (const name of ['with space', 'new\nline', 'ümläut-日本', '-dash', 'back\\slash', 'quote"\'', '*', '...'])
        write(at(name));
      const raw = Buffer.concat([Buffer.from(at('raw')), Buffer.from([0xff, 0xc3, 0x28])]);
      mkdirSync(raw);
      writeFileSync(Buffer.concat([raw, Buffer.from('/below')]), 'x');
    },
  },
  {
    name: 'an old v7 archive',
    options: ['--format=v7'],
    fill: (at) => {
      mkdirSync(at('d'));
      write(at('d/f'));
      symlinkSync('f', at('d/l'));
    },
  },
  {
    name: 'a ustar archive with split names',
    options: ['--format=ustar'],
    fill: (at) => {
      const path = Array(12).fill('components').join('/');
      mkdirSync(at(path), { recursive: true });
      write(at(`${path}/f`));
    },
  },
  {
    name: 'a GNU archive',
    options: ['--format=gnu'],
    fill: (at) => {
      mkdirSync(at('d'.repeat(200)));
      write(at(`${'d'.repeat(200)}/${'f'.repeat(200)}`));
      symlinkSync('t'.repeat(180), at('l'));
      chownSync(at('d'.repeat(200)), 3_000_000_000, 1);
    },
  },
  {
    name: 'a GNU archive of sparse files',
    options: ['--format=gnu'],
    fill: (at) => {
      const file = openSync(at('s'), 'w');
      for (let i = 0; i < 50; i++) writeSync(file, 'data', i * 131_072);
      ftruncateSync(file, 1 << 23);
      closeSync(file);
    },
  },
  ...['0.0', '0.1', '1.0'].map((version) => ({
    name: `sparse files in PAX format ${version}`,
    options: [`--sparse-version=${version}`],
    fill: (at: (path: string) => string) => {
      const file = openSync(at('s'), 'w');
      for (let i = 0; i < 30; i++) writeSync(file, `data ${i}`, i * 131_072);
      ftruncateSync(file, 1 << 22);
      closeSync(file);
    },
  })),
];

suite('a layer is unpacked as by GNU tar', () => {
  for (const [index, { name, fill, options = ['--format=pax'] }] of layers.entries()) {
    test(name, async () => {
      using scratch = new Scratch();
      const source = scratch.directory('source');
      fill((path) => join(source, path));
      const archive = scratch.at('layer.tar');
      const xattrs =
        options[0] === '--format=pax' ? everything : everything.filter((option) => !option.startsWith('--xattrs'));
      const writeOptions = options.some((option) => /v7|ustar/.test(option)) ? ['--numeric-owner'] : xattrs;
      execFileSync('tar', [...writeOptions, ...options, '-C', source, '-cf', archive, '.']);
      const reference = scratch.directory('reference');
      execFileSync('tar', [...everything, '-p', '-C', reference, '-xf', archive], {
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const content = readFileSync(archive);
      const pack = [(bytes: Buffer) => bytes, gzipSync, zstdCompressSync][index % 3]!;
      writeFileSync(scratch.at('blob'), pack(content));
      const directory = scratch.directory('unpacked');
      const { diffId } = await unpacker.unpackLayer({
        blobPath: scratch.at('blob'),
        mediaType: 'application/vnd.oci.image.layer.v1.tar+gzip',
        directory,
        overlayWhiteouts: true,
        signal: AbortSignal.timeout(120_000),
      });
      assert.equal(diffId, `sha256:${createHash('sha256').update(content).digest('hex')}`);
      assertSameTree(directory, reference, system);
      if (/sparse/.test(name)) assertHoles(directory, reference);
    });
  }
});

/** Asserts that the sparse files of the test do not use more disk blocks than those unpacked by GNU tar. */
function assertHoles(directory: string, reference: string): void {
  for (const name of ['s', 'one', 'many', 'none']) {
    const [ours, theirs] = [directory, reference].map(
      (path) => lstatSync(join(path, name), { throwIfNoEntry: false })?.blocks ?? 0,
    );
    assert.ok(ours! <= theirs! + 16, `${name}: ${ours} blocks, GNU tar has ${theirs}`);
  }
}
