import { testSandboxController } from '../../packages/runtime/src/sandbox/sandbox.suite.ts';
import { openShimController } from './shim.fixture.ts';

await testSandboxController((state) => openShimController(state));
