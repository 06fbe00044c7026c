import { taskRuntimeSuite } from '../../packages/runtime/src/tasks/task-runtime.suite.ts';
import { runc, taskHarness } from './fixture.ts';

taskRuntimeSuite('oci with runc', () => taskHarness(async () => runc));
