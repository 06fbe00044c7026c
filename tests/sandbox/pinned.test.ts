import { PinnedController } from '../../packages/runtime/src/sandbox/pinned-controller.ts';
import { testSandboxController } from '../../packages/runtime/src/sandbox/sandbox.suite.ts';
import { SharedPidInit } from '../../packages/runtime/src/sandbox/shared-pid-init.ts';
import { makeInfraParts } from './place.fixture.ts';

await testSandboxController(async (state) => {
  const parts = await makeInfraParts(state);
  return { controller: new PinnedController({ ...parts, init: new SharedPidInit(parts) }), close: parts.close };
});
