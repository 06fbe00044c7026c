import { PauseController } from '../../packages/runtime/src/sandbox/pause-controller.ts';
import { testSandboxController } from '../../packages/runtime/src/sandbox/sandbox.suite.ts';
import { makeInfraParts } from './place.fixture.ts';

await testSandboxController(async (state) => {
  const parts = await makeInfraParts(state);
  return { controller: new PauseController(parts), close: parts.close };
});
