/** Facts about the host that do not change while it is running, read from the same files that cAdvisor reads. */
import { readFile } from 'node:fs/promises';
import { release } from 'node:os';
import { VERSION } from '@podwright/base';
import type { NodeSystemInfo } from '@podwright/kube-api';
import { osImage } from '../node/node-object.ts';

const MACHINE_ID = ['/etc/machine-id', '/var/lib/dbus/machine-id'];
/** Files that contain the system UUID on PCs, POWER and s390x. */
const SYSTEM_UUID = [
  '/sys/class/dmi/id/product_uuid',
  '/proc/device-tree/system-id',
  '/proc/device-tree/vm,uuid',
  '/etc/machine-id',
];
const BOOT_ID = ['/proc/sys/kernel/random/boot_id'];

/** NodeSystemInfo, except for the container runtime's version. */
export type HostFacts = Omit<NodeSystemInfo, 'containerRuntimeVersion'>;

/** Reads the host facts. A fact that is missing or unreadable is ''. Never rejects. */
export async function hostFacts(): Promise<HostFacts> {
  const [machineID, systemUUID, bootID, swapBytes] = await Promise.all([
    firstText(MACHINE_ID),
    firstText(SYSTEM_UUID),
    firstText(BOOT_ID),
    swapTotal(),
  ]);
  return {
    ...{ machineID, systemUUID, bootID },
    kernelVersion: release(),
    osImage: osImage(),
    kubeletVersion: `v1.36.0+podwright.${VERSION}`,
    kubeProxyVersion: '',
    operatingSystem: 'linux',
    architecture: nodeArchitecture(),
    ...(swapBytes === 0 ? {} : { swap: { capacity: swapBytes } }),
  };
}

/** Returns the host's architecture in Go's notation. */
export function nodeArchitecture(): string {
  return { x64: 'amd64', ia32: '386', ppc64: 'ppc64le' }[process.arch as string] ?? process.arch;
}

async function firstText(paths: readonly string[]): Promise<string> {
  for (const path of paths) {
    const text = await readIfAllowed(path);
    if (text !== undefined) return text.replaceAll('\0', '').trim();
  }
  return '';
}

async function swapTotal(): Promise<number> {
  const kib = /^SwapTotal:\s+(\d+) kB$/m.exec((await readIfAllowed('/proc/meminfo')) ?? '')?.[1] ?? '0';
  return Number(kib) * 1024;
}

async function readIfAllowed(path: string): Promise<string | undefined> {
  return await readFile(path, 'utf8').catch(() => undefined);
}
