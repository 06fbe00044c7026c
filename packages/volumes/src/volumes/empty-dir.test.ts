import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@podwright/kube-api';
import { tmpfsOptions } from './empty-dir.ts';

function options(sizeLimit: string | undefined, memoryLimits: (string | undefined)[], fsGroup?: number): string {
  const containers = memoryLimits.map((memory, index) => ({
    name: `c${index}`,
    image: 'i',
    resources: { limits: memory === undefined ? {} : { memory } },
  }));
  const pod = { spec: { containers, securityContext: { fsGroup } } } as unknown as Pod;
  return tmpfsOptions({ pod, sizeLimit, nodeMemoryBytes: 4096n }).join(',');
}

test('the size of a tmpfs is the minimum of its own limit, the pod’s limit and the node’s memory', () => {
  assert.equal(options(undefined, [undefined]), 'size=4096');
  assert.equal(options('1Mi', [undefined]), 'size=4096');
  assert.equal(options('0', ['1Ki', '1Ki']), 'size=2048');
  assert.equal(options('1Ki', ['1Mi']), 'size=1024');
  assert.equal(options(undefined, ['1Ki', undefined], 5), 'size=4096,mode=3777,gid=5');
});
