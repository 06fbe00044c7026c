import { testSandboxController } from '../../packages/runtime/src/sandbox/sandbox.suite.ts';
import { openShimController } from './shim.fixture.ts';

await testSandboxController(async (state) => ({ ...(await openShimController(state)), userNamespaces: false }));
