import { addressBytes, type IpVersion } from '@podwright/system';
import { PROTOCOL_NUMBERS, type Protocol } from '../services/service-port.ts';

/** An address, protocol and port at which a service port is reachable. */
export type Frontend = { version: IpVersion; address: string; protocol: Protocol; port: number };

/** Encodes a port as a field of a set element: 16 bits in network byte order, padded to four bytes. */
function portField(port: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt16BE(port);
  return bytes;
}

const protocolField = (protocol: Protocol): Buffer => Buffer.from([PROTOCOL_NUMBERS[protocol], 0, 0, 0]);

/** The key `address . protocol . port`. */
export const frontendKey = ({ address, protocol, port }: Frontend): Buffer =>
  Buffer.concat([addressBytes(address), protocolField(protocol), portField(port)]);

/** The key `address . protocol . port . number`; the kernel generates the number in host byte order. */
export function numberedKey(frontend: Buffer, number: number): Buffer {
  const key = Buffer.alloc(frontend.length + 4);
  frontend.copy(key);
  key.writeUInt32LE(number, frontend.length);
  return key;
}

/** The value `address . port`. */
export const endpointField = ({ address, port }: { address: string; port: number }): Buffer =>
  Buffer.concat([addressBytes(address), portField(port)]);

/** The key `source . destination . protocol . port` for an endpoint's connection to itself. */
export const hairpinKey = (endpoint: Frontend): Buffer =>
  Buffer.concat([addressBytes(endpoint.address), frontendKey(endpoint)]);

/** A port, as the operand of an address translation. */
export const portOperand = (port: number): Buffer => portField(port).subarray(0, 2);
