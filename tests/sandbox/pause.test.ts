import { PauseController } from '../../packages/runtime/src/sandbox/pause-controller.ts';
import { testSandboxController } from '../../packages/runtime/src/sandbox/sandbox.suite.ts';
import { makeSandboxPlace } from './place.fixture.ts';

await testSandboxController(async () => {
  const place = await makeSandboxPlace();
  return { controller: new PauseController(place), close: place.close };
});
