/**
 * A small CSI driver: volumes are directories of its own, mounted for real. Its parent says by messages how each call behaves, and
 * hears of each call. Arguments: name, directory for data, socket of the driver, socket for the registration.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Server, ServerCredentials, type ServerUnaryCall, type sendUnaryData } from '@grpc/grpc-js';
import { grpcServiceDefinition } from '@podwright/cri';
import {
  Node,
  type NodePublishVolumeRequest,
  type NodeStageVolumeRequest,
  type NodeUnpublishVolumeRequest,
  type NodeUnstageVolumeRequest,
  NodeServiceCapability_RPC_Type as Rpc,
  VolumeUsage_Unit,
} from '@podwright/cri/csi';
import { Registration } from '@podwright/cri/plugin-registration';

/** How a call goes wrong; `hang` before its work is done, `hangAfter` after it. */
export type Misbehaviour = { hang?: boolean; hangAfter?: boolean; crash?: boolean; error?: number };
export type DriverMessage = { behave: Record<string, Misbehaviour> };
export type DriverReport = { call: string; request: unknown } | { listening: true };

const [name = '', data = '', socket = '', registrationSocket = ''] = process.argv.slice(2);
let behaviour: Record<string, Misbehaviour> = {};
process.on('message', (message: DriverMessage) => {
  behaviour = message.behave;
});
process.on('disconnect', () => process.exit());
const tell = (report: DriverReport) => process.send?.(report);

const isMounted = (path: string) => readFileSync('/proc/self/mountinfo', 'utf8').includes(` ${path} `);
function bind(source: string, target: string, readonly: boolean): void {
  mkdirSync(target, { recursive: true });
  if (isMounted(target)) return;
  execFileSync('mount', ['-n', '--bind', source, target]);
  if (readonly) execFileSync('mount', ['-n', '-o', 'remount,bind,ro', target]);
}
function release(target: string): void {
  if (isMounted(target)) execFileSync('umount', ['-n', target]);
  if (existsSync(target)) rmdirSync(target);
}
function dataOf(volumeId: string): string {
  const path = join(data, volumeId);
  mkdirSync(path, { recursive: true });
  return path;
}

const calls: Record<string, (request: never) => object> = {
  nodeGetInfo: () => ({
    nodeId: `${name}-node`,
    maxVolumesPerNode: 9n,
    accessibleTopology: { segments: { [`${name}/zone`]: 'a' } },
  }),
  nodeGetCapabilities: () => ({
    capabilities: [Rpc.STAGE_UNSTAGE_VOLUME, Rpc.GET_VOLUME_STATS].map((type) => ({
      type: { case: 'rpc', value: { type } },
    })),
  }),
  nodeStageVolume: ({ volumeId, stagingTargetPath }: NodeStageVolumeRequest) => {
    bind(dataOf(volumeId), stagingTargetPath, false);
    return {};
  },
  nodeUnstageVolume: ({ stagingTargetPath }: NodeUnstageVolumeRequest) => {
    release(stagingTargetPath);
    return {};
  },
  nodePublishVolume: ({ volumeId, stagingTargetPath, targetPath, readonly }: NodePublishVolumeRequest) => {
    bind(stagingTargetPath || dataOf(volumeId), targetPath, readonly);
    return {};
  },
  nodeUnpublishVolume: ({ targetPath }: NodeUnpublishVolumeRequest) => {
    release(targetPath);
    return {};
  },
  nodeGetVolumeStats: () => ({
    usage: [
      { available: 60n, total: 100n, used: 40n, unit: VolumeUsage_Unit.BYTES },
      { available: 7n, total: 10n, used: 3n, unit: VolumeUsage_Unit.INODES },
    ],
  }),
  getInfo: () => ({ type: 'CSIPlugin', name, endpoint: socket, supportedVersions: ['1.0.0'] }),
  notifyRegistrationStatus: () => ({}),
};

function answer(call: string, work: (request: never) => object) {
  return ({ request }: ServerUnaryCall<object, object>, reply: sendUnaryData<object>) => {
    const { hang, hangAfter, crash, error } = behaviour[call] ?? {};
    tell({
      call,
      request: JSON.parse(JSON.stringify(request, (_, value) => (typeof value === 'bigint' ? String(value) : value))),
    });
    if (crash) process.exit(1);
    if (hang) return;
    if (error !== undefined) return reply({ code: error, details: `told to fail ${call}` });
    try {
      const response = work(request as never);
      if (!hangAfter) reply(null, response);
    } catch (failure) {
      reply({ code: 13, details: String(failure) });
    }
  };
}

async function serve(service: typeof Node | typeof Registration, path: string): Promise<void> {
  const server = new Server();
  const definition = grpcServiceDefinition(service);
  const handlers = Object.keys(definition).map((call) => [call, answer(call, calls[call] ?? (() => ({})))]);
  server.addService(definition, Object.fromEntries(handlers));
  const unseen = join(dirname(path), `.${process.pid}`);
  await new Promise<void>((resolve, reject) => {
    const listening = (error: Error | null) => (error === null ? resolve() : reject(error));
    server.bindAsync(`unix:${unseen}`, ServerCredentials.createInsecure(), listening);
  });
  renameSync(unseen, path); // a driver that was killed leaves its socket
}

await serve(Node, socket);
await serve(Registration, registrationSocket);
tell({ listening: true });
