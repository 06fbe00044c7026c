import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create } from '@bufbuild/protobuf';
import { ImageSchema, isPinnedForUsers } from '@podwright/cri';
import { criImage } from './image-message.ts';

const checks: [string, { pinned: boolean; isLoaded: boolean }, { pinned: boolean; forUsers: boolean }][] = [
  ['pulled', { pinned: false, isLoaded: false }, { pinned: false, forUsers: false }],
  ['loaded', { pinned: false, isLoaded: true }, { pinned: true, forUsers: false }],
  ['pinned by the configuration', { pinned: true, isLoaded: false }, { pinned: true, forUsers: true }],
  ['loaded and pinned by the configuration', { pinned: true, isLoaded: true }, { pinned: true, forUsers: true }],
];
for (const [what, given, { pinned, forUsers }] of checks) {
  test(`kubelets ${pinned ? 'do not' : 'may'} remove an image that was ${what}, users ${forUsers ? 'do not' : 'may'}`, () => {
    const names = { repoTags: ['r.test/app:1'], repoDigests: [] };
    const config = { architecture: '', os: 'linux', config: {}, rootfs: { type: 'layers', diff_ids: [] } };
    const record = { id: 'sha256:1', ...names, sizeBytes: 1, manifestDigest: '', config, chainId: '', ...given };
    const image = create(ImageSchema, criImage(record));
    assert.deepEqual({ pinned: image.pinned, forUsers: isPinnedForUsers(image) }, { pinned, forUsers });
  });
}
