/**
 * Runs, stops and removes one sandbox, in a process that kills itself with SIGKILL at the given stage: `node sandbox-child.ts PLACE_JSON
 * STAGE`.
 */
import { Protocol } from '@podwright/cri';
import { openShim, podConfig, type SandboxPlace } from './sandbox-place.fixture.ts';

const [, , place, fatalStage] = process.argv;
const shim = await openShim(JSON.parse(place!) as SandboxPlace, {
  failpoint: (stage) => {
    if (stage === fatalStage) process.kill(process.pid, 'SIGKILL');
  },
});
const portMappings = [{ protocol: Protocol.TCP, containerPort: 80, hostPort: 38235, hostIp: '' }];
const id = await shim.run(podConfig('victim', { portMappings }));
await shim.stop(id);
await shim.remove(id);
shim.close();
