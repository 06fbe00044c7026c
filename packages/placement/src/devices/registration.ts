import { mkdir, readdir, rm } from 'node:fs/promises';
import { connect as connectTo } from 'node:net';
import { join, relative, resolve } from 'node:path';
import { type Logger, POD_DIRECTORY, PodwrightError } from '@podwright/base';
import { handleService, type ListeningServer, serveServices } from '@podwright/grpc';
import { isExtendedResource } from '@podwright/kube-api';
import { Registration } from '../device-plugin-api.ts';

const VERSION = 'v1beta1';
const KUBELET_SOCKET = 'kubelet.sock';

/** Resource name of a registering plugin and the path of its socket. */
export type RegisteredPlugin = { resource: string; socket: string };

/**
 * Serves plugin registration on `kubelet.sock` in the directory. Removes the plugins' sockets first, so that running plugins notice the
 * restart and register again. Responds to a registration only once connected to the plugin. Rejects with `already_exists` if another
 * kubelet is serving the directory.
 */
export async function serveRegistration({
  directory,
  connect,
  logger,
}: {
  directory: string;
  connect: (plugin: RegisteredPlugin) => Promise<void>;
  logger: Logger;
}): Promise<ListeningServer> {
  await mkdir(directory, { recursive: true, mode: POD_DIRECTORY });
  await removeSockets(directory); // before serving: plugins create their sockets again when they see the kubelet's
  const service = handleService(Registration, {
    register: async ({ version, endpoint, resourceName: resource }) => {
      checkPlugin(resource, [version]);
      await connect({ resource, socket: socketIn(directory, endpoint) });
      return {};
    },
  });
  return serveServices([service], { socket: join(directory, KUBELET_SOCKET), logger });
}

async function removeSockets(directory: string): Promise<void> {
  const entries = await readdir(directory, { withFileTypes: true });
  const sockets = entries.filter((entry) => entry.isSocket()).map(({ name }) => name);
  if (sockets.includes(KUBELET_SOCKET) && (await isServed(join(directory, KUBELET_SOCKET))))
    throw new PodwrightError('already_exists', `another kubelet serves device plugins in ${directory}`);
  for (const name of sockets) await rm(join(directory, name), { force: true });
}

function isServed(socket: string): Promise<boolean> {
  const { promise, resolve: answer } = Promise.withResolvers<boolean>();
  const connection = connectTo(socket);
  connection.once('connect', () => answer(true)).once('error', () => answer(false));
  return promise.finally(() => connection.destroy());
}

/** Throws `invalid_argument` with upstream's message if no version is supported or if the resource name is invalid. */
export function checkPlugin(resource: string, versions: string[]): void {
  if (!versions.includes(VERSION)) {
    const requested = JSON.stringify(versions.join(', ').slice(0, 100));
    const what = `requested API version ${requested} is not supported by kubelet. Supported version is ["${VERSION}"]`;
    throw new PodwrightError('invalid_argument', what);
  }
  if (isExtendedResource(resource)) return;
  throw new PodwrightError('invalid_argument', `the ResourceName ${JSON.stringify(resource.slice(0, 100))} is invalid`);
}

function socketIn(directory: string, endpoint: string): string {
  const path = resolve(directory, `./${endpoint}`);
  const below = relative(directory, path);
  if (below !== '' && !below.startsWith('..')) return path;
  const shown = JSON.stringify(endpoint.slice(0, 100));
  throw new PodwrightError('invalid_argument', `the endpoint ${shown} is not a socket in ${directory}`);
}
