import { isIP } from 'node:net';
import { PodwrightError } from '@podwright/base';
import type { Pod } from '@podwright/kube-api';

/** A local port (0 for any free port) and a port of the pod. */
export type ForwardedPort = { local: number; remote: number };

/** Parses `REMOTE`, `LOCAL:REMOTE` or `:REMOTE`. REMOTE may also be the name of a port in the pod's spec. */
export function parseForwardedPort(text: string, pod: Pod): ForwardedPort {
  const match = /^(?:(\d*):)?([\w-]+)$/.exec(text);
  if (match === null) throw refuse(text, 'REMOTE, LOCAL:REMOTE or :REMOTE is needed');
  const remote = /^\d+$/.test(match[2]!) ? portNumber(match[2]!, text) : namedPort(match[2]!, pod);
  if (match[1] === undefined) return { local: remote, remote };
  return { local: match[1] === '' || match[1] === '0' ? 0 : portNumber(match[1], text), remote };
}

function portNumber(digits: string, text: string): number {
  const port = Number(digits);
  if (port >= 1 && port <= 65_535) return port;
  throw refuse(text, 'ports are 1 to 65535');
}

function namedPort(name: string, pod: Pod): number {
  const containers = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])];
  const ports = containers.flatMap(({ ports = [] }) => ports).filter((port) => port.name !== undefined);
  const found = ports.find((port) => port.name === name);
  if (found !== undefined) return found.containerPort;
  const has = ports.length === 0 ? 'names no port' : `names the ports ${ports.map((port) => port.name).join(', ')}`;
  throw refuse(name, `the manifest of pod ${pod.metadata.name} ${has}`);
}

function refuse(text: string, why: string): PodwrightError {
  return new PodwrightError('invalid_argument', `port-forward: "${text}": ${why}`);
}

/** An address to listen on. Errors on `optional` addresses are ignored, because a host may not have IPv6. */
export type ListenAddress = { address: string; optional: boolean };

/** Parses `--address`: a comma-separated list of IP addresses and `localhost`. Drops addresses covered by another one. */
export function parseAddresses(text: string): ListenAddress[] {
  const all = text.split(',').flatMap(parseAddress);
  const has = (address: string) => all.some((one) => one.address === address);
  // a listener on :: also accepts IPv4 connections and therefore covers IPv4 addresses
  const isCovered = (address: string) =>
    address !== '::' && (has('::') || (isIP(address) === 4 && address !== '0.0.0.0' && has('0.0.0.0')));
  const needed = all.filter(({ address }) => !isCovered(address));
  return needed.filter(({ address }, index) => needed.findIndex((one) => one.address === address) === index);
}

function parseAddress(address: string): ListenAddress[] {
  if (address === 'localhost') {
    return [
      { address: '127.0.0.1', optional: false },
      { address: '::1', optional: true },
    ];
  }
  if (isIP(address) !== 0) return [{ address, optional: false }];
  throw new PodwrightError('invalid_argument', `port-forward: "${address}" is neither an IP address nor localhost`);
}
