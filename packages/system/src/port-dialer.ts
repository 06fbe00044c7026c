import { Socket } from 'node:net';
import { PodwrightError, wrapError } from '@podwright/base';
import { loadLibc } from './libc.ts';
import { type NamespaceDependencies, withNetworkNamespace } from './namespaces.ts';

/**
 * Opens a byte stream to a port in the network namespace at a path, for port-forward. Each direction of the stream can be closed
 * independently.
 */
export type PortDialer = (netnsPath: string, port: number, signal: AbortSignal) => Promise<Socket>;

/** The pod's loopback addresses, with their address families (socket(2)). */
const LOOPBACK = [
  { host: '127.0.0.1', family: 2 },
  { host: '::1', family: 10 },
];
/** SOCK_STREAM, SOCK_CLOEXEC and SOCK_NONBLOCK. */
const STREAM = 1 | 0o2000000 | 0o4000;

/**
 * Connects to ports in network namespaces. A socket belongs to the namespace it was created in, so the thread only enters that namespace to
 * create it. Fails with `unavailable` if nothing listens on the port.
 */
export function createPortDialer(dependencies: NamespaceDependencies): PortDialer {
  const libc = loadLibc();
  return async (netnsPath, port, signal) => {
    let failure: unknown;
    for (const { host, family } of LOOPBACK) {
      signal.throwIfAborted();
      const descriptor = withNetworkNamespace(dependencies, netnsPath, () => libc.socket(family, STREAM, 0));
      if (descriptor === -1) continue; // the host does not support this address family
      try {
        return await connect(new Socket({ fd: descriptor, allowHalfOpen: true }), { host, port }, signal);
      } catch (error) {
        failure ??= error;
      }
    }
    throw failure ?? new PodwrightError('unavailable', `reach port ${port} of the pod: there is no loopback address`);
  };
}

function connect(socket: Socket, target: { host: string; port: number }, signal: AbortSignal): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const onAbort = () => socket.destroy(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  socket.once('connect', () => resolve(socket));
  socket.once('error', (error) => reject(wrapError(`reach port ${target.port} of the pod`, error, 'unavailable')));
  socket.connect(target);
  return promise.finally(() => signal.removeEventListener('abort', onAbort));
}
