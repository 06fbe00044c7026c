/** The example plugin fulfils the contract: runs its own test. */
import '../../examples/plugins/copy-snapshotter/src/copy-snapshotter.test.ts';
