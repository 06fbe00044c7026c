import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../api/types.ts';
import { tmpfsOptions } from './empty-dir.ts';

function options(sizeLimit: string | undefined, memoryLimits: (string | undefined)[], fsGroup?: number): string {
  const containers = memoryLimits.map((memory, index) => ({
    name: `c${index}`,
    image: 'i',
    resources: { limits: memory === undefined ? {} : { memory } },
  }));
  const pod = { spec: { containers, securityContext: { fsGroup } } } as unknown as Pod;
  return tmpfsOptions(pod, { name: 'v', emptyDir: { medium: 'Memory', sizeLimit } }).join(',');
}

test('a tmpfs is bounded by its own limit and by what the pod may use', () => {
  assert.equal(options(undefined, [undefined]), 'mode=0777');
  assert.equal(options('1Mi', [undefined]), 'mode=0777,size=1048576');
  assert.equal(options('0', ['1Ki', '1Ki']), 'mode=0777,size=2048');
  assert.equal(options('1Ki', ['1Mi']), 'mode=0777,size=1024');
  assert.equal(options(undefined, ['1Ki', undefined], 5), 'mode=2777,gid=5');
});
