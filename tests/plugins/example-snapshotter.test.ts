/** Checks that the example plugin fulfills the contract, by running its own test. */
import '../../examples/plugins/copy-snapshotter/src/copy-snapshotter.test.ts';
