/**
 * Conformance tests for third-party plugins, `@podwright/runtime/suites`, to be run with `node:test`. Require root, because they create
 * mounts and namespaces.
 */
export { testSnapshotter } from '@podwright/images/suites';
export { type SandboxControllerUnderTest, testSandboxController } from './sandbox/sandbox.suite.ts';
export { type TaskRuntimeHarness, taskRuntimeSuite as testTaskRuntime } from './tasks/task-runtime.suite.ts';
