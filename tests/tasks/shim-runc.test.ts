import { taskRuntimeSuite } from '../../packages/runtime/src/tasks/task-runtime.suite.ts';
import { shimHarness } from './fixture.ts';

taskRuntimeSuite('containerd-shim-runc-v2', shimHarness);
