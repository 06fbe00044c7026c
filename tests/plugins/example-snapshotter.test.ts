/** The example of a plugin keeps to the contract: its own test, as its author runs it. */
import '../../examples/plugins/copy-snapshotter/src/copy-snapshotter.test.ts';
