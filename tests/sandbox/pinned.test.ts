import { PinnedController } from '../../packages/runtime/src/sandbox/pinned-controller.ts';
import { testSandboxController } from '../../packages/runtime/src/sandbox/sandbox.suite.ts';
import { SharedPidInit } from '../../packages/runtime/src/sandbox/shared-pid-init.ts';
import { makeSandboxPlace } from './place.fixture.ts';

await testSandboxController(async () => {
  const place = await makeSandboxPlace();
  return { controller: new PinnedController({ ...place, init: new SharedPidInit(place) }), close: place.close };
});
