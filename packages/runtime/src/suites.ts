/**
 * The contract suites for plugins of others: `@podwright/runtime/suites`, for `node:test`. They need root, as they make mounts
 * and namespaces.
 */
export { testSnapshotter } from '@podwright/images/suites';
export { type SandboxControllerUnderTest, testSandboxController } from './sandbox/sandbox.suite.ts';
export { type TaskRuntimeHarness, taskRuntimeSuite as testTaskRuntime } from './tasks/task-runtime.suite.ts';
