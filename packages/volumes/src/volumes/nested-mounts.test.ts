import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@podwright/kube-api';
import { nestedMountPoints } from './nested-mounts.ts';

test('only the outermost mounts inside a volume need a directory in it', () => {
  const check = (mounts: [name: string, mountPath: string][], expected: string[]) => {
    const volumeMounts = mounts.map(([name, mountPath]) => ({ name, mountPath }));
    const pod = { spec: { containers: [{ name: 'a', image: 'i', volumeMounts }] } } as unknown as Pod;
    assert.deepEqual(nestedMountPoints(pod, 'v'), expected);
  };
  check([['v', '/dir']], []);
  check([['v', '/dir'], ['o', '/dir/nested'], ['o', '/dir/nested/other']], ['nested']); // biome-ignore format: a table
  check([['v', '/dir/'], ['o', 'dir/a/b'], ['o', '/dir/nested2'], ['o', '/dir/nested']], ['a/b', 'nested', 'nested2']); // biome-ignore format: a table
  check([['o', '/dir'], ['v', '/dir/in'], ['o', '/directory']], []); // biome-ignore format: a table
  check([['v', '/'], ['o', '/../x']], ['x']); // biome-ignore format: a table
});
