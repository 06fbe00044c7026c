import { readdirSync } from 'node:fs';
import { HealthStatus } from '@podwright/cri/dra-health';
import type { ClaimPlan } from './dra-driver.ts';
import { PluginUnderTest } from './plugin-process.fixture.ts';

/** A DRA driver in a process of its own; `data` has the specifications of prepared claims. */
export class DraDriverUnderTest extends PluginUnderTest {
  protected readonly program = new URL('./dra-driver.ts', import.meta.url).pathname;

  /** What it does with claims from now on, by their names; with others, it prepares one device. */
  plan(plans: Record<string, ClaimPlan>): Promise<void> {
    return this.tell({ plans });
  }

  /** It tells how a device is. */
  async health(device: string, health: 'HEALTHY' | 'UNHEALTHY', message = ''): Promise<void> {
    const identifier = { poolName: 'pool', deviceName: device };
    await this.tell({ health: [{ device: identifier, health: HealthStatus[health], message }] });
  }

  /** The calls about claims, in order, with the names of the claims. */
  async claimCalls(): Promise<string[]> {
    return (await this.allCalls()).flatMap(({ call, request }) => {
      const claims = (request.claims ?? []) as { name: string }[];
      return call.endsWith('Resources') ? [`${call} ${claims.map(({ name }) => name).join()}`] : [];
    });
  }

  /** Names of the specifications that are there. */
  specifications(): string[] {
    return readdirSync(this.data);
  }
}
