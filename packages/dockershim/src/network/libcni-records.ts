import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorMessage, type Logger } from '@podwright/base';
import { create, type PortMapping, PortMappingSchema, Protocol } from '@podwright/cri';
import { namesIn } from '@podwright/host';
import * as z from 'zod';

const record = z.object({
  capabilityArgs: z
    .object({
      portMappings: z
        .array(
          z.object({
            ...{ hostPort: z.number(), containerPort: z.number(), hostIP: z.string().default('') },
            protocol: z.enum(['tcp', 'udp', 'sctp']),
          }),
        )
        .nullish(),
    })
    .nullish(),
});

/**
 * Results cached by another dockershim's libcni, in the `results` directory of the CNI cache. For an adopted pod, they are the only source
 * of its host ports, which `portmap` needs to remove its rules.
 */
export class LibcniRecords {
  readonly #directory: string;
  readonly #logger: Logger;

  constructor(cacheDir: string, logger: Logger) {
    this.#directory = join(cacheDir, 'results');
    this.#logger = logger;
  }

  /** Returns a sandbox's host ports; empty if there is no record. */
  async ports(sandboxId: string): Promise<PortMapping[]> {
    const records = await Promise.all((await this.#paths(sandboxId)).map((path) => this.#read(path)));
    const ports = records.map((found) => found?.capabilityArgs?.portMappings ?? []);
    // all of a sandbox's records contain the same ports
    return (ports.find(({ length }) => length > 0) ?? []).map(portMapping);
  }

  /** Removes a sandbox's records. Must be called after the network has been removed. */
  async remove(sandboxId: string): Promise<void> {
    await Promise.all((await this.#paths(sandboxId)).map((path) => rm(path, { force: true })));
  }

  /**
   * Returns the paths of a sandbox's records (`NETWORK-SANDBOX-INTERFACE`), including that of the loopback network, which has the same
   * interface name.
   */
  async #paths(sandboxId: string): Promise<string[]> {
    const names = await namesIn(this.#directory);
    return names.filter((name) => name.endsWith(`-${sandboxId}-eth0`)).map((name) => join(this.#directory, name));
  }

  async #read(path: string): Promise<z.infer<typeof record> | undefined> {
    try {
      return record.parse(JSON.parse(await readFile(path, 'utf8')));
    } catch (error) {
      this.#logger.warn({ path, error: errorMessage(error) }, 'the record of a network is damaged');
      return undefined;
    }
  }
}

type Port = { hostPort: number; containerPort: number; hostIP: string; protocol: 'tcp' | 'udp' | 'sctp' };

function portMapping({ hostPort, containerPort, hostIP, protocol }: Port): PortMapping {
  const known = { tcp: Protocol.TCP, udp: Protocol.UDP, sctp: Protocol.SCTP }[protocol];
  return create(PortMappingSchema, { hostPort, containerPort, hostIp: hostIP, protocol: known });
}
