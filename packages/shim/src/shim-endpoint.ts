import { fromBinary } from '@bufbuild/protobuf';
import { PodwrightError } from '@podwright/base';
import { BootstrapResultSchema } from './gen/containerd/runtime/bootstrap/v1/bootstrap_pb.js';

/** The address of a shim, and the version of the task service that it serves. */
export type ShimEndpoint = { version: 2 | 3; address: string };

/**
 * Parses the output of a shim's `start` command: an address (containerd 1.x), a JSON object (1.7 to 2.2) or a protobuf message (since 2.3).
 * Throws `unimplemented` for shims that use gRPC instead of ttrpc.
 */
export function parseStartAnswer(output: Uint8Array): ShimEndpoint {
  const text = Buffer.from(output).toString('utf8').trim();
  if (text === '') throw new PodwrightError('internal', 'the shim printed no address');
  if (/^(unix:\/\/|\/)[^\0\n]+$/.test(text)) return { version: 2, address: text };
  const { version, address, protocol } = text.startsWith('{') ? parseJson(text) : parseMessage(output);
  if (protocol !== 'ttrpc') throw new PodwrightError('unimplemented', `the shim speaks ${protocol}, not ttrpc`);
  if (version !== 2 && version !== 3)
    throw new PodwrightError('unimplemented', `the shim has version ${version} of the task service, not 2 or 3`);
  return { version, address };
}

/** Returns the socket path to connect to. An address without a scheme is in the abstract namespace (unix(7)). */
export function socketPath(address: string): string {
  if (address.startsWith('unix://')) return address.slice('unix://'.length);
  if (/^[a-z]+:\/\//.test(address))
    throw new PodwrightError('unimplemented', `shim address ${address}: not a unix socket`);
  return address.startsWith('/') ? address : `\0${address}`;
}

type Answer = { version: number; address: string; protocol: string };

function parseJson(text: string): Answer {
  try {
    const { version, address, protocol } = JSON.parse(text) as Record<string, unknown>;
    return { version: Number(version), address: String(address), protocol: String(protocol).toLowerCase() };
  } catch (error) {
    throw invalidOutput(error);
  }
}

function parseMessage(output: Uint8Array): Answer {
  try {
    const { version, address, protocol } = fromBinary(BootstrapResultSchema, output);
    return { version, address, protocol: protocol.toLowerCase() };
  } catch (error) {
    throw invalidOutput(error);
  }
}

const invalidOutput = (cause: unknown) =>
  new PodwrightError('internal', "the shim's output of start is neither an address nor a description of it", { cause });
