/**
 * Measures a cold start, from no node at all until an app responds: runs `podwright up`, `load` and `apply`, then waits until the app
 * responds at the address that the cluster DNS returns for its Service.
 */
import { Resolver } from 'node:dns/promises';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runChecked } from '@podwright/host';
import { writeExampleArchive } from '../scripts/example-image.ts';
import { answers, WEB_PORT, WEB_SERVER } from './answers.ts';
import type { Bench } from './bench.ts';
import { IMAGE, PROGRAM, writeConfiguration } from './sides.ts';
import { until } from './until.ts';
import { apiSettings } from './workload-sides.ts';

const ROUNDS = 3;
/**
 * Index of the side in the first round, which selects its subnet (`subnetOf`). It differs from the indices in the benchmark's other parts,
 * so that subnets do not collide.
 */
const FIRST_INDEX = 22;
const APP = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: main, image: "${IMAGE}", command: ${JSON.stringify(WEB_SERVER)}}]
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80, targetPort: ${WEB_PORT}}]}
`;

/** Returns how long the cold start took in each round, in milliseconds. */
export async function measureFromNothing({ scratch, sides }: Pick<Bench, 'scratch' | 'sides'>): Promise<number[]> {
  const archive = join(scratch, 'app.tar');
  await writeExampleArchive(archive);
  const manifest = join(scratch, 'app.yaml');
  writeFileSync(manifest, APP);
  const samples: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const [index, octet] = [FIRST_INDEX + round, 32 + round];
    const settings = apiSettings(`10.91.${octet}.0/24`);
    const setup = { name: `nothing-${round}`, command: 'node', setup: 'default', index, settings } as const;
    const { config } = await writeConfiguration(scratch, setup);
    const run = (...args: string[]) => runChecked(PROGRAM, ['--config', config, ...args]);
    const stop = async () => void (await run('stop'));
    sides.push({ stop });
    const beginMs = performance.now();
    await run('up');
    await run('load', archive);
    await run('apply', '-f', manifest);
    await untilResponse(`10.91.${octet}.10`);
    samples.push(performance.now() - beginMs);
    await stop();
  }
  return samples;
}

/** Waits until the DNS server at this address resolves the Service and the app responds at the Service's address. */
async function untilResponse(server: string): Promise<void> {
  const resolver = new Resolver({ timeout: 200, tries: 1 });
  resolver.setServers([server]);
  await until(async () => {
    const [address] = await resolver.resolve4('web.default.svc.cluster.local').catch(() => []);
    return address === undefined ? undefined : await answers(address);
  });
}
