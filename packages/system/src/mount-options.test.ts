import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mountFlags, type ParsedMountOptions, parseMountOptions } from './mount-options.ts';

const { readOnly, noSuid, noDev, bind, recursive } = mountFlags;

function check(options: string[], expected: Partial<ParsedMountOptions>): void {
  assert.deepEqual(parseMountOptions(options), { flags: 0, propagation: [], data: [], ...expected }, options.join());
}

test('options are split into flags, propagation changes and file system data', () => {
  check([], {});
  check(['defaults', ''], {});
  check(['ro', 'nosuid', 'nodev', 'size=1m', 'mode=1777'], {
    flags: readOnly | noSuid | noDev,
    data: ['size=1m', 'mode=1777'],
  });
  check(['rbind', 'rslave'], { flags: bind | recursive, propagation: [mountFlags.slave | recursive] });
  check(['bind', 'private', 'rshared'], {
    flags: bind,
    propagation: [mountFlags.private, mountFlags.shared | recursive],
  });
});

test('a later option overrides an earlier one', () => {
  check(['ro', 'rw'], {});
  check(['rw', 'ro'], { flags: readOnly });
  check(['nosuid', 'suid', 'nodev'], { flags: noDev });
});

test('names of object properties are treated as file system data', () => {
  check(['constructor', 'toString'], { data: ['constructor', 'toString'] });
});
