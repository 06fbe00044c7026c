/** Runs the contract suite of snapshotters; needs root. */
import { testSnapshotter } from '@podwright/runtime/suites';
import { CopySnapshotter } from './copy-snapshotter.ts';

testSnapshotter('copy', (root) => new CopySnapshotter({ name: 'copy', root, reflink: 'auto' }));
