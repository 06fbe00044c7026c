/**
 * A small DRA driver that writes a CDI spec for each prepared claim and removes it afterwards. The parent process sends messages to control
 * how claims are handled and the health of devices. Arguments: name, CDI spec directory, driver socket, registration socket.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  DRAPlugin,
  type NodePrepareResourcesRequest,
  type NodeUnprepareResourcesRequest,
} from '@podwright/placement/dra-api';
import { DRAResourceHealth } from '@podwright/placement/dra-health-api';
import { servePlugin } from './plugin-process.ts';

/** Result for a claim: the devices to prepare, or an error. */
export type ClaimPlan = { devices?: { name: string; requests?: string[] }[]; error?: string };
export type DraMessage = { plans?: Record<string, ClaimPlan>; health?: object[] };

const [name = '', directory = '', socket = '', registrationSocket = ''] = process.argv.slice(2);
let plans: Record<string, ClaimPlan> = {};
let health: object[] = [];
const followers = new Set<(message: object) => void>();
process.on('message', (message: DraMessage) => {
  plans = message.plans ?? plans;
  if (message.health === undefined) return;
  health = message.health;
  for (const send of followers) send({ devices: health });
});

const fileOf = (uid: string) => join(directory, `${name}-${uid}.json`);

type Claim = { uid: string; name: string };

function prepare({ uid, name: claim }: Claim) {
  const { error = '', devices = [{ name: 'dev0' }] } = plans[claim] ?? {};
  if (error !== '') return { error };
  const specification = {
    ...{ cdiVersion: '0.6.0', kind: `${name}/claim` },
    devices: devices.map((device) => ({
      name: `${uid}-${device.name}`,
      containerEdits: {
        env: [`DRA_${device.name}=${claim}`],
        deviceNodes: [{ path: `/dev/dra-${device.name}`, hostPath: '/dev/zero', permissions: 'r' }],
      },
    })),
  };
  writeFileSync(fileOf(uid), JSON.stringify(specification));
  const prepared = devices.map((device) => ({
    ...{ poolName: 'pool', deviceName: device.name, requestNames: device.requests ?? [] },
    cdiDeviceIds: [`${name}/claim=${uid}-${device.name}`],
  }));
  return { devices: prepared };
}

function unprepare({ uid, name: claim }: Claim) {
  const { error = '' } = plans[claim] ?? {};
  if (error === '') rmSync(fileOf(uid), { force: true });
  return { error };
}

const each = (claims: Claim[], work: (claim: Claim) => object) => ({
  claims: Object.fromEntries(claims.map((claim) => [claim.uid, work(claim)])),
});

await servePlugin({
  ...{ service: DRAPlugin, socket, registrationSocket },
  calls: {
    nodePrepareResources: ({ claims }: NodePrepareResourcesRequest) => each(claims, prepare),
    nodeUnprepareResources: ({ claims }: NodeUnprepareResourcesRequest) => each(claims, unprepare),
    getInfo: () => ({
      ...{ type: 'DRAPlugin', name, endpoint: socket },
      supportedVersions: ['v1.DRAPlugin', 'v1alpha1.DRAResourceHealth'],
    }),
  },
  streaming: {
    service: DRAResourceHealth,
    follow: (send) => {
      followers.add(send);
      if (health.length > 0) send({ devices: health });
    },
  },
});
